"""Which rows and columns each member of a bag sees: bootstrap, pasting, random subspaces and random patches.

Breiman 1996 and 1999 draw rows, with and without replacement; Ho 1998 draws columns; Louppe & Geurts 2012 draw both. A draw is named by
(seed, member), so that it depends neither on the other members nor on the order in which they are trained, and need not be stored.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from woodwind.base.streams import choose, integers, key, uniform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Drawing:
    """How rows and columns are drawn.

    A row may stand for several (a whole weight), and then it is drawn as often as those would be; one that stands for none is
    never drawn. With `chance` rows are drawn in proportion to it instead.
    """

    seed: int
    n_rows: int
    n_draws: int  # rows drawn for each member
    replace: bool
    n_columns: int
    n_drawn_columns: int
    replace_columns: bool
    units: Integers | None = None  # (n_rows,) how many rows each stands for; None for one each
    chance: Floats | None = None  # (n_rows,) how likely each of those is drawn; None: all alike

    @property
    def n_units(self) -> int:
        """Number of rows, each as often as it stands for one."""
        return self.n_rows if self.units is None else int(self._ends[-1])

    @property
    def all_columns(self) -> bool:
        """Whether every member sees every column once."""
        return not self.replace_columns and self.n_drawn_columns == self.n_columns

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a member may miss rows."""
        return self.replace or self.n_draws < self.n_units

    def rows(self, member: int) -> Integers:
        """The rows of a member, ascending, a row as often as it was drawn."""
        drawn = self._draw(key(self.seed, "rows", member))
        drawn.sort()
        return drawn

    def counts(self, member: int) -> Integers:
        """How often each row was drawn (n_rows,)."""
        return np.bincount(self._draw(key(self.seed, "rows", member)), minlength=self.n_rows).astype(np.int64)

    def columns(self, member: int) -> Integers:
        """The columns of a member, ascending, a column as often as it was drawn."""
        name = key(self.seed, "columns", member)
        if not self.replace_columns:
            return choose(name, self.n_columns, self.n_drawn_columns)
        return np.sort(integers(name, self.n_columns, self.n_drawn_columns))

    def _draw(self, name: int) -> Integers:
        if self.chance is not None:
            return self._draw_by_chance(name)
        if self.replace:
            places = integers(name, self.n_units, self.n_draws)
        else:
            places = choose(name, self.n_units, self.n_draws)
        return self._of_units(places)

    def _of_units(self, places: Integers) -> Integers:
        return places if self.units is None else np.searchsorted(self._ends, places, side="right").astype(np.int64)

    def _draw_by_chance(self, name: int) -> Integers:
        assert self.chance is not None
        if self.replace:
            where = uniform(name, self.n_draws) * self._chance_ends[-1]
            # Rounding must not lead behind the last row that has a chance.
            places = np.minimum(np.searchsorted(self._chance_ends, where, side="right"), np.flatnonzero(self._unit_chance)[-1])
        else:
            # Efraimidis & Spirakis 2006: those with the largest u**(1/chance) are a draw in proportion to the chances, one after another.
            with np.errstate(divide="ignore"):
                rank = np.log(uniform(name, self.n_units)) / self._unit_chance
            places = np.argpartition(-rank, self.n_draws - 1)[: self.n_draws]
        return self._of_units(places.astype(np.int64))

    @cached_property
    def _ends(self) -> Integers:
        """How many rows there are up to each."""
        assert self.units is not None
        return np.cumsum(self.units)

    @cached_property
    def _unit_chance(self) -> Floats:
        assert self.chance is not None
        return self.chance if self.units is None else np.repeat(self.chance, self.units)

    @cached_property
    def _chance_ends(self) -> Floats:
        return np.cumsum(self._unit_chance)
