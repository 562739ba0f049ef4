"""The real tables: read from the folder given by --data or $WOODWIND_DATA, cleaned as the notes beside each file say.

Every contestant gets the same frame: numbers, strings as pandas categories, dates as numbers of their parts.
Columns that leak the target, row numbers and one-hot copies of the target are dropped here, each with its reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
LARGEST = 100_000  # rows kept of the tables that are larger; CatBoost's default alone would take an hour on all of them


@dataclass
class Table:
    """One prepared table."""

    name: str
    task: str  # "regression", "binary" or "classes"
    X: pd.DataFrame
    y: NDArray[Any]
    given: list[Split] = field(default_factory=list)  # splits that come with the data; the first ones used
    groups: NDArray[np.int64] | None = None  # rows of a group stay on one side (duplicated rows)
    by_time: bool = False
    note: str = ""

    def splits(self, number: int = 3) -> list[Split]:
        """The given splits first, then seeded ones of 80 and 20 %: stratified for classes, by group or by time where said."""
        made = list(self.given[:number])
        return made + [self._by_time(seed, number) if self.by_time else self._drawn(seed) for seed in range(len(made), number)]

    def _by_time(self, seed: int, number: int) -> Split:
        # The last test part ends with the table; earlier ones end earlier. Training is all that came before.
        n = len(self.y)
        end = n - (number - 1 - seed) * (n // 10)
        cut = int(0.8 * end)
        return np.arange(cut), np.arange(cut, end)

    def _drawn(self, seed: int) -> Split:
        rng = np.random.default_rng([seed, 20])
        n = len(self.y)
        if self.groups is not None:
            size = np.bincount(self.groups)
            order = rng.permutation(np.flatnonzero(size <= n // 50))  # a huge group would be most of the test part
            test = np.isin(self.groups, order[np.cumsum(size[order]) <= n // 5])
        elif self.task == "regression":
            test = np.zeros(n, bool)
            test[rng.permutation(n)[: n // 5]] = True
        else:
            test = np.zeros(n, bool)
            for label in np.unique(self.y):
                rows = rng.permutation(np.flatnonzero(self.y == label))
                test[rows[: max(1, round(len(rows) / 5))]] = True
        return np.flatnonzero(~test), np.flatnonzero(test)

    def digest(self) -> str:
        """Changes when the prepared table does, so that stored results of the old one are not used."""
        rows = pd.util.hash_pandas_object(self.X, index=False).to_numpy()
        parts = [rows.tobytes(), np.asarray(self.y, np.float64).tobytes(), ",".join(self.X.columns).encode()]
        parts += [np.concatenate(split).astype(np.int64).tobytes() for split in self.splits()]
        return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


def frame(data: pd.DataFrame, drop: tuple[str, ...] = ()) -> pd.DataFrame:
    """Strings become categories, booleans numbers; columns are called by strings."""
    data = data.drop(columns=list(drop)).reset_index(drop=True)
    data.columns = [str(name) for name in data.columns]
    for name in data.columns:
        column = data[name]
        if pd.api.types.is_bool_dtype(column):
            data[name] = column.astype(np.int8)
        elif not pd.api.types.is_numeric_dtype(column):
            data[name] = column.astype("category")
    return data


def codes(labels: Any) -> NDArray[np.int64]:
    """Classes numbered in sorted order."""
    return np.unique(np.asarray(labels).astype(str), return_inverse=True)[1].astype(np.int64)


def duplicates(X: pd.DataFrame) -> NDArray[np.int64]:
    """One group number per distinct row."""
    return np.unique(pd.util.hash_pandas_object(X, index=False).to_numpy(), return_inverse=True)[1].astype(np.int64)


def sample(data: pd.DataFrame, rows: int = LARGEST) -> pd.DataFrame:
    """A seeded share of the rows, in their order."""
    if len(data) <= rows:
        return data
    kept = np.sort(np.random.default_rng(7).permutation(len(data))[:rows])
    return data.iloc[kept]


# ---------------------------------------------------------------- one reader per table


def _simple(
    name: str, task: str, file: str, target: str, drop: tuple[str, ...] = (), note: str = "", twins: bool = False, **options: Any
) -> Callable[[Path], Table]:
    """A CSV with a header, whose target is one column. `twins`: duplicated rows stay on one side of a split."""

    def read(root: Path) -> Table:
        data = pd.read_csv(root / name / file, **options)
        X = frame(data, (target, *drop))
        y = data[target].to_numpy(np.float64) if task == "regression" else codes(data[target])
        return Table(name, task, X, y, groups=duplicates(X) if twins else None, note=note)

    return read


def _headless(name: str, task: str, file: str, twins: bool = False) -> Callable[[Path], Table]:
    """A CSV of numbers without a header, whose target is the last column."""

    def read(root: Path) -> Table:
        data = pd.read_csv(root / name / file, header=None, skipinitialspace=True)
        data.columns = [f"x{i}" for i in range(data.shape[1])]
        X = frame(data.iloc[:, :-1])
        return Table(name, task, X, codes(data.iloc[:, -1]), groups=duplicates(X) if twins else None)

    return read


def _parts(name: str, X: list[pd.DataFrame], y: list[Any], task: str) -> Table:
    """A table that comes as training and test file: that split is the first of the three."""
    whole = pd.concat(X, ignore_index=True)
    first = len(X[0])
    return Table(
        name,
        task,
        frame(whole),
        codes(np.concatenate(y)),
        given=[(np.arange(first), np.arange(first, len(whole)))],
        note="first split as given, then two seeded",
    )


def adult(root: Path) -> Table:
    parts = [pd.read_csv(root / "adult" / f"adult_{part}.csv") for part in ("train", "test")]
    return _parts("adult", [p.drop(columns="income") for p in parts], [p["income"].to_numpy(str) for p in parts], "binary")


def agaricus(root: Path) -> Table:
    X, y = [], []
    for part in ("train", "test"):
        lines = (root / "agaricus" / f"agaricus.txt.{part}").read_text().split("\n")
        lines = [line for line in lines if line.strip()]
        dense = np.zeros((len(lines), 127), np.float32)
        for i, line in enumerate(lines):
            for item in line.split()[1:]:
                dense[i, int(item.split(":")[0])] = 1
        X.append(pd.DataFrame(dense, columns=[f"x{i}" for i in range(127)]))
        y.append(np.array([int(line.split()[0]) for line in lines]))
    return _parts("agaricus", X, y, "binary")


def bemtpl97(root: Path) -> Table:
    data = sample(pd.read_csv(root / "bemtpl97" / "beMTPL97.csv.gz"))
    # All four are outcomes; the id is a row number. The postcode is a number of places, coded as a category.
    X = data.drop(columns=["id", "claim", "nclaims", "amount", "average"])
    X["postcode"] = X["postcode"].astype(str)
    return Table("bemtpl97", "binary", frame(X), codes(data["claim"]), note=f"claim or none; {LARGEST:,} of 163,212 rows")


def bike(root: Path) -> Table:
    data = pd.read_csv(root / "bike" / "bike.csv")
    date = pd.to_datetime(data["dteday"], format="%m/%d/%Y")
    data["day"] = date.dt.day
    X = frame(data, ("instant", "dteday", "cnt"))
    return Table("bike", "regression", X, data["cnt"].to_numpy(np.float64), by_time=True, note="split by time")


def flights_3m(root: Path) -> Table:
    data = sample(pd.read_parquet(root / "flights_3m" / "flights-3m.parquet"))
    date = pd.to_datetime(data["date"])
    X = data.drop(columns=["date", "delay"])
    for part in ("month", "day", "dayofweek", "hour", "minute"):
        X[part] = getattr(date.dt, part).to_numpy()
    return Table("flights_3m", "binary", frame(X), codes(data["delay"] > 15), note=f"delay over 15 minutes; {LARGEST:,} of 3,000,000 rows")


def nycflights13(root: Path, rows: int = LARGEST) -> Table:
    data = pd.read_csv(root / "nycflights13" / "flights.csv.gz")
    data = sample(data[data["arr_delay"].notna()], rows)
    # Known only after the departure, or constant (year), or the other columns again (time_hour).
    late = ["arr_delay", "dep_delay", "dep_time", "arr_time", "air_time", "year", "time_hour"]
    return Table(
        "nycflights13",
        "binary",
        frame(data, tuple(late)),
        codes(data["arr_delay"] > 15),
        note=f"arrival over 15 minutes late; {len(data):,} of 327,346 rows",
    )


def higgs_lgb(root: Path) -> Table:
    parts = [pd.read_csv(root / "higgs_lgb" / f"binary.{part}", sep="\t", header=None) for part in ("train", "test")]
    return _parts("higgs_lgb", [p.iloc[:, 1:] for p in parts], [p.iloc[:, 0].to_numpy(int) for p in parts], "binary")


def khan_genes(root: Path) -> Table:
    folder = root / "khan_genes"
    X = [pd.read_csv(folder / f"Khan_x{part}.csv") for part in ("train", "test")]
    y = [pd.read_csv(folder / f"Khan_y{part}.csv").iloc[:, 0].to_numpy(int) for part in ("train", "test")]
    return _parts("khan_genes", X, y, "classes")


def loans_openintro(root: Path) -> Table:
    data = pd.read_csv(root / "loans_openintro" / "loans_full_schema.csv")
    # The forest codes almost are the rate, and the instalment gives it away together with amount and term; the others came later.
    drop = ["rownames", "interest_rate", "grade", "sub_grade", "installment", "balance", "loan_status"]
    drop += [name for name in data.columns if name.startswith("paid_")]
    return Table("loans_openintro", "regression", frame(data, tuple(drop)), data["interest_rate"].to_numpy(np.float64))


def otto(root: Path) -> Table:
    data = pd.read_csv(root / "otto" / "otto_data.csv.gz")
    X = data[[name for name in data.columns if name.startswith("feat_")]].astype(np.float32)
    return Table("otto", "classes", frame(X), codes(data["target"]))


def _uci(name: str) -> Callable[[Path], Table]:
    """Numbers only, with twenty fixed splits of 90 and 10 %, of which the first three are used."""

    def read(root: Path) -> Table:
        folder = root / name
        data = np.loadtxt(folder / "data.txt")
        features = np.loadtxt(folder / "index_features.txt").astype(int)
        target = int(np.loadtxt(folder / "index_target.txt"))
        given = [
            tuple(np.loadtxt(folder / "splits" / f"index_{part}_{i}.txt").astype(np.int64) for part in ("train", "test")) for i in range(3)
        ]
        X = pd.DataFrame(data[:, features], columns=[f"x{i}" for i in features])
        return Table(name, "regression", X, data[:, target], given=given, note="given splits of 90/10")  # type: ignore[arg-type]

    return read


READERS: dict[str, Callable[[Path], Table]] = {
    "abalone": _simple("abalone", "regression", "abalone.csv", "Rings"),
    "adult": adult,
    "agaricus": agaricus,
    "ames_house": _simple("ames_house", "regression", "house.csv", "SalePrice", drop=("Id",)),
    "bank_marketing": _simple("bank_marketing", "binary", "bank.csv", "deposit", drop=("duration",), note="without duration, which leaks"),
    "bemtpl97": bemtpl97,
    "bike": bike,
    "california_housing": _simple("california_housing", "regression", "housing.csv", "median_house_value"),
    "diamonds": _simple("diamonds", "regression", "diamonds.csv", "price", drop=("rownames",)),
    "dna": _simple("dna", "classes", "dna.csv", "LABEL", note="duplicates on one side", twins=True),
    "flights_3m": flights_3m,
    "higgs_lgb": higgs_lgb,
    "hmeq": _simple("hmeq", "binary", "hmeq.csv", "BAD"),
    "insurance": _simple("insurance", "regression", "insurance.csv", "charges"),
    "khan_genes": khan_genes,
    "letter": _headless("letter", "classes", "letter.csv"),
    "loan_bads": _simple("loan_bads", "binary", "loan_data.csv", "BAD", sep=";", note="duplicates on one side", twins=True),
    "loans_openintro": loans_openintro,
    "mammography": _headless("mammography", "binary", "mammography.csv", twins=True),
    "nycflights13": nycflights13,
    "otto": otto,
    "phoneme": _headless("phoneme", "binary", "phoneme.csv"),
    "resale_price_SYNTHETIC": _simple("resale_price_SYNTHETIC", "regression", "resale_price_dataset.csv", "Observed resale price"),
    "spambase": _headless("spambase", "binary", "spambase.csv", twins=True),
    **{f"uci_{name}": _uci(f"uci_{name}") for name in ("boston", "concrete", "energy", "kin8nm", "power", "yacht")},
}


def folder(position: str) -> Path | None:
    """The folder of tables, when there is one."""
    path = Path(position) if position else None
    return path if path is not None and path.is_dir() else None


def read(name: str, position: str) -> Table | None:
    """One table, or None where the folder does not hold it."""
    root = folder(position)
    return READERS[name](root) if root is not None and (root / name).is_dir() else None
