"""Will the loan be paid back? What `woodwind fit`, `leaderboard`, `predict`, `explain` and `report` do, from Python."""

import tempfile
from pathlib import Path

from pyarrow import csv

import woodwind

FILE = Path(__file__).parent / "data" / "credit.csv"


def main() -> None:
    # A number of models gives the same result every time; time=60 gives the best that a minute allows.
    model = woodwind.fit(FILE, target="credit", models=3)

    print(f"{'member':<22}  log loss      +-  weight")
    for entry in model.leaderboard_:
        print(f"{entry.name:<22}  {entry.score:8.4f}  {entry.standard_error:6.4f}  {entry.weight:6.2f}")

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "loans.ww"
        model.save(file)  # one file, without any code in it
        again = woodwind.load(file)
        print(f"\nThe model file has {file.stat().st_size / 1e6:.1f} MB.")

    loans = csv.read_csv(FILE).slice(0, 5).drop_columns(["credit"])
    print("\nThe probability that it is paid back, for five loans:")
    print("  ".join(f"{one:.3f}" for one in again.predict_proba(loans)[:, 1]))

    print("\nWhy, for the second of them:")
    print(model.explain(loans).to_text(1, most=5))


if __name__ == "__main__":
    main()
