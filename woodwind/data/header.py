"""Header: what the columns of a training table are called, and where they are in another table."""

from collections.abc import Collection
from dataclasses import dataclass

from woodwind.base.errors import ExtraColumnWarning, NamelessTableWarning
from woodwind.base.nearest import nearest
from woodwind.base.notice import notice
from woodwind.base.sound import sound
from woodwind.data.faults import fault, listed
from woodwind.data.raw import RawTable

# Columns of a table that a model file speaks of: where they have no names, nothing else in the file says how many there are.
MOST_COLUMNS = 1 << 23


@dataclass(frozen=True)
class Header:
    """The columns of a table, in its order."""

    names: tuple[str, ...] | None  # None when they have none
    n_columns: int

    def check(self) -> "Header":
        """There is a name for each column, or for none; gives itself, or raises DataError."""
        sound(1 <= self.n_columns <= MOST_COLUMNS, "there are no columns, or too many")
        sound(self.names is None or len(set(self.names)) == len(self.names) == self.n_columns, "columns have not one name each")
        return self

    def places(self, raw: RawTable, owner: str, beside: Collection[str] = ()) -> list[int]:
        """Where in the input each column of the training table is. Nothing need be said of columns `beside` them, such as the target."""
        if raw.names is None or self.names is None:
            self._check_count(raw, owner)
            return list(range(self.n_columns))
        where = {name: place for place, name in enumerate(raw.names)}
        missing = [name for name in self.names if name not in where]
        known = {*self.names, *beside}
        extra = [name for name in raw.names if name not in known]
        if missing:
            raise _missing_columns(missing, extra, owner)
        if extra:
            notice(
                f"{owner} ignores {len(extra)} {'column' if len(extra) == 1 else 'columns'} that training never saw: {listed(extra)}.",
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
    hints = [f"{near!r} may be {name!r}" for name in missing[:3] if (near := _near(name, extra))]
    one = len(missing) == 1
    meant = f" Did you mean {_near(missing[0], extra)!r}?" if one and hints else ""
    also = f" Columns that training never saw: {listed(extra, 10)}." if extra else ""
    whose = owner[:1].lower() + owner[1:] if owner.startswith("The ") else owner
    fix = f"give {'it' if one else 'them'}, filled with missing values if {'it is' if one else 'they are'} unknown"
    return fault(
        "D012",
        f"the {'column' if one else 'columns'} {listed(missing, 10)}, which {whose} was trained with, {'is' if one else 'are'} missing."
        f"{meant}{also}",
        "The feature names should match those that were passed during fit: the model splits on these columns.",
        fix + (f"; {', '.join(hints)}." if hints else "."),
    )


def _near(name: str, others: list[str]) -> str | None:
    """The name that differs by its case alone, else one that differs by a few letters."""
    alike = [other for other in others if other.strip().casefold() == name.strip().casefold()]
    return next(iter(alike or nearest(name, others, alike=0.6)), None) or _one_letter_off(name, others)


def _one_letter_off(name: str, others: list[str]) -> str | None:
    """A name with one letter more, less or changed: of short names, too few letters agree for the usual measure."""
    for other in others:
        if len(name) == len(other) > 1 and sum(one != two for one, two in zip(name, other, strict=True)) == 1:
            return other
        short, long = sorted((name, other), key=len)
        if short and len(long) == len(short) + 1 and any(long[:place] + long[place + 1 :] == short for place in range(len(long))):
            return other
    return None
