"""A genetic search for a choice of members: populations of choices, of which the better ones are crossed and changed at random.

Z.-H. Zhou, J. Wu & W. Tang, "Ensembling neural networks: many could be better than all", Artificial Intelligence 137 (2002): GASEN
evolves weights of members, and keeps those with more than the mean weight. Here choices may also be evolved themselves, as bits. All that
is drawn is named by (seed, generation, child). The best of a generation live on, and every single member is known from the beginning:
what is found is never worse than the best member.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import integers, key, uniform
from woodwind.selection.member_selection import EQUAL, MemberSelection, score_of, single_scores
from woodwind.selection.objectives import Objective

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GeneticSettings:
    """How generations follow each other."""

    generations: int = 50
    population: int = 50
    elite: int = 2  # choices that live on as they are
    rivals: int = 3  # drawn for each parent, of whom the best one becomes it
    crossing: float = 0.9  # share of children with two parents
    genes: Literal["choices", "weights"] = "choices"

    def __post_init__(self) -> None:
        if self.generations < 1 or self.population < 2 or not 1 <= self.elite < self.population or self.rivals < 1:
            raise ParameterError(
                "A genetic search needs generations of at least 1, a population of at least 2, an elite of at least 1 and less than the "
                f"population, and rivals of at least 1, not {self}."
            )


def genetic(objective: Objective, seed: int, breeding: GeneticSettings | None = None, most: int | None = None) -> MemberSelection:
    """The best choice that was met, of at most so many members. The path has the best score before the first generation and after each.

    The first population are the best member, all members, the first halves of the members by their own scores, and random choices.
    """
    search = _Search(objective, seed, breeding or GeneticSettings(), most)
    search.run()
    counts = search.best
    by_score = np.argsort(-search.singles, kind="stable")
    return MemberSelection(counts, by_score[counts[by_score] > 0.0].astype(np.int64), np.array(search.path), search.best_score)


class _Search:
    """A population and the best choice so far."""

    def __init__(self, objective: Objective, seed: int, breeding: GeneticSettings, most: int | None) -> None:
        self.objective, self.seed, self.breeding = objective, seed, breeding
        self.m = len(objective.vectors)
        self.most = self.m if most is None else max(1, min(most, self.m))
        self.singles = single_scores(objective)
        self.known: dict[bytes, float] = {}  # scores of choices that were scored
        self.best = np.zeros(self.m)
        self.best[int(self.singles.argmax())] = 1.0
        self.best_score = self._score(self.best)
        self.path = list[float]()

    def run(self) -> None:
        """All generations."""
        genes = self._first()
        fitness = self._scored(genes)
        self.path.append(self.best_score)
        for generation in range(self.breeding.generations):
            order = np.argsort(-fitness, kind="stable")
            children = [self._child(genes, fitness, key(self.seed, "child", generation, c)) for c in range(self._births)]
            genes = np.concatenate([genes[order[: self.breeding.elite]], children])
            fitness = self._scored(genes)
            self.path.append(self.best_score)

    @property
    def _births(self) -> int:
        return self.breeding.population - self.breeding.elite

    def _first(self) -> Floats:
        size = self.breeding.population
        genes = np.array([uniform(key(self.seed, "first", one), self.m) for one in range(size)])
        order = np.argsort(-self.singles, kind="stable")
        given = [self.best, np.ones(self.m)]
        count = self.m
        while (count := count // 2) > 1:
            given.append(np.isin(np.arange(self.m), order[:count]).astype(np.float64))
        if self.breeding.genes == "choices":
            genes = np.round(genes)
        genes[: len(given[:size])] = given[:size]
        return genes

    def _child(self, genes: Floats, fitness: Floats, name: int) -> Floats:
        drawn = integers(key(name, "rivals"), len(genes), 2 * self.breeding.rivals)
        mother, father = (genes[side[np.argmax(fitness[side])]] for side in np.split(drawn, 2))
        draws = uniform(key(name, "luck"), 3 * self.m + 1)
        child = mother.copy()
        if draws[-1] < self.breeding.crossing:
            child = np.where(draws[: self.m] < 0.5, mother, father)
        # One gene in the mean changes.
        changed = draws[self.m : 2 * self.m] < 1.0 / self.m
        new = draws[2 * self.m : 3 * self.m] if self.breeding.genes == "weights" else 1.0 - child
        return np.where(changed, new, child)

    def _scored(self, genes: Floats) -> Floats:
        """The fitness of genes; the choices that they stand for are remembered."""
        fitness = np.empty(len(genes))
        for position, gene in enumerate(genes):
            choice = self._choice(gene)
            score = self._score(choice)
            if score > self.best_score + EQUAL * abs(self.best_score):
                self.best, self.best_score = choice, score
            # GASEN scores weights by the weighted mean; what it keeps in the end are members.
            fitness[position] = score if self.breeding.genes == "choices" else self._score(gene if gene.any() else choice)
        return fitness

    def _choice(self, gene: Floats) -> Floats:
        """Members whose gene is above the mean, or that are in it; at most so many, those with the best scores of their own."""
        keep = gene > gene.mean() if self.breeding.genes == "weights" else gene > 0.5
        if not keep.any():
            keep = self.best > 0.0
        if keep.sum() > self.most:
            rank = gene if self.breeding.genes == "weights" else self.singles
            positions = np.flatnonzero(keep)
            keep = np.isin(np.arange(self.m), positions[np.argsort(-rank[positions], kind="stable")[: self.most]])
        return keep.astype(np.float64)

    def _score(self, counts: Floats) -> float:
        name = counts.tobytes()
        if name not in self.known:
            self.known[name] = score_of(self.objective, counts)
        return self.known[name]
