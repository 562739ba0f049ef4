"""Try a wheel as a stranger would: in an empty environment, outside of the checkout, from a small CSV to predictions.

    python tools/try_wheel.py dist/woodwind-*.whl [--python python3.12 --python python3.13] [--extra serve]

It says how large the wheel is, what was installed with it and how large that is. Needs the network, or a mirror that pip knows.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

MB = 1e6
PLANS = ("basic", "gold", "plus")
ROWS = "\n".join(f"{20 + i * 7 % 50},{PLANS[i % 3]},{i * 13 % 90},{'yes' if i * 13 % 90 > 40 else 'no'}" for i in range(200))
TABLE = f"age,plan,paid,late\n{ROWS}\n"
LONGEST = 900  # seconds of one step


def run(command: Sequence[str], folder: Path) -> str:
    """Run a command without anything of the checkout in its way, and give what it wrote."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WOODWIND", "VIRTUAL_ENV"))}
    environment["WOODWIND_CACHE_DIR"] = str(folder / "cache")
    (folder / "cache").mkdir(mode=0o700, exist_ok=True)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def size_of(folder: Path) -> float:
    """Megabytes of the files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / MB


def attempt(wheel: Path, python: str, extra: str, seconds: int) -> None:
    """Install into an empty environment and use it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([python, "-m", "venv", "venv"], folder)
        own = folder / "venv" / "bin" / "python"
        before = size_of(folder / "venv")
        run([str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}{f'[{extra}]' if extra else ''}"], folder)
        run([str(own), "-m", "pip", "--disable-pip-version-check", "check"], folder)
        print(f"{run([str(own), '--version'], folder).strip()}: {size_of(folder / 'venv') - before:.0f} MB installed")
        frozen = run([str(own), "-m", "pip", "--disable-pip-version-check", "freeze"], folder)
        print("  " + ", ".join(line.partition(" @ ")[0] for line in frozen.splitlines()))
        where = run([str(own), "-c", "import woodwind; print(woodwind.__file__)"], folder).strip()
        if not Path(where).resolve().is_relative_to(folder.resolve()):
            raise SystemExit(f"{where} was imported, and not what was installed")
        (folder / "train.csv").write_text(TABLE, encoding="utf-8")
        command = str(folder / "venv" / "bin" / "woodwind")
        run([command, "fit", "train.csv", "--target", "late", "--time", str(seconds), "-o", "model.ww"], folder)
        run([command, "predict", "model.ww", "train.csv", "--proba", "-o", "predictions.csv"], folder)
        rows = (folder / "predictions.csv").read_text(encoding="utf-8").splitlines()
        report = (folder / "model.html").stat().st_size
        print(f"  woodwind fit and predict: {len(rows) - 1} predictions, a report of {report / 1e3:.0f} kB, {rows[0]}")


def main() -> None:
    """Try a wheel on one Python or several."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", action="append", help="an interpreter; this one unless given")
    parser.add_argument("--extra", default="", help="extras to install, such as serve")
    parser.add_argument("--seconds", type=int, default=20, help="of the job (20)")
    options = parser.parse_args()
    wheel = options.wheel.resolve()
    with zipfile.ZipFile(wheel) as files:
        inside = files.infolist()
    unpacked = sum(one.file_size for one in inside) / MB
    print(f"{wheel.name}: {wheel.stat().st_size / MB:.2f} MB, {len(inside)} files, {unpacked:.1f} MB unpacked")
    for python in options.python or [sys.executable]:
        attempt(wheel, python, options.extra, options.seconds)


if __name__ == "__main__":
    main()
