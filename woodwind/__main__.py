"""`python -m woodwind` is the command `woodwind`."""

from woodwind.cli.main import main

if __name__ == "__main__":
    main()
