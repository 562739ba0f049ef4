"""Header: what the columns of a training table are called, and where they are in another table."""

import difflib
from collections.abc import Collection
from dataclasses import dataclass

from woodwind.base.errors import ExtraColumnWarning, NamelessTableWarning
from woodwind.base.notice import notice
from woodwind.base.sound import sound
from woodwind.data.faults import fault, listed
from woodwind.data.raw import RawTable


@dataclass(frozen=True)
class Header:
    """The columns of a table, in its order."""

    names: tuple[str, ...] | None  # None when they have none
    n_columns: int

    def check(self) -> "Header":
        """There is a name for each column, or for none; gives itself, or raises DataError."""
        sound(self.n_columns >= 1, "there are no columns")
        sound(self.names is None or len(set(self.names)) == len(self.names) == self.n_columns, "columns have not one name each")
        return self

    def places(self, raw: RawTable, owner: str, beside: Collection[str] = ()) -> list[int]:
        """Where in the input each column of the training table is. Nothing need be said of columns `beside` them, such as the target."""
        if raw.names is None or self.names is None:
            self._check_count(raw, owner)
            return list(range(self.n_columns))
        where = {name: place for place, name in enumerate(raw.names)}
        missing = [name for name in self.names if name not in where]
        known = set(self.names)
        extra = [name for name in raw.names if name not in known and name not in beside]
        if missing:
            raise _missing_columns(missing, extra, owner)
        if extra:
            notice(
                f"{owner} ignores {len(extra)} columns that training never saw: {listed(extra)}.",
                ExtraColumnWarning,
            )
        return [where[name] for name in self.names]

    def _check_count(self, raw: RawTable, owner: str) -> None:
        """Columns without names go by their places: there must be as many as in training."""
        if raw.n_columns != self.n_columns:
            raise fault(
                "D013",
                f"X has {raw.n_columns} features, but {owner} is expecting {self.n_columns} features as input.",
                "Columns without names are matched by their places.",
                "give the columns of the training table, in its order.",
            )
        if self.names is not None:
            notice(
                f"X does not have valid feature names, but {owner} was fitted with feature names: "
                "columns are taken in the order of the training table.",
                NamelessTableWarning,
            )


def _missing_columns(missing: list[str], extra: list[str], owner: str) -> Exception:
    """The error for a table that lacks columns of the training table; it points at names that are nearly right."""
    guesses = [(name, difflib.get_close_matches(name, extra, 1)) for name in missing[:3]]
    hints = [f"{near[0]!r} may be {name!r}" for name, near in guesses if near]
    also = f" Columns that training never saw: {listed(extra, 10)}." if extra else ""
    return fault(
        "D012",
        f"the columns {listed(missing, 10)}, which {owner} was trained with, are missing.{also}",
        "The feature names should match those that were passed during fit: the model splits on these columns.",
        "give them, filled with missing values if they are unknown" + (f"; {', '.join(hints)}." if hints else "."),
    )
