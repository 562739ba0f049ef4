"""From parameters to a search: which function of `woodwind.select` chooses the members."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.streams import key
from woodwind.estimators.pruned import can_be_pruned
from woodwind.estimators.target import Target
from woodwind.select.chosen import Chosen, first_of
from woodwind.select.clusters import clustered
from woodwind.select.exhaustive import MOST_MEMBERS, exhaustive
from woodwind.select.genetic import Breeding, genetic
from woodwind.select.greedy import bagged, greedy
from woodwind.select.objectives import Objective, squared_distances
from woodwind.select.ordering import ordered

Floats = NDArray[np.float64]
Values = dict[str, Any]


def members_wanted(values: Values, m: int, owner: str) -> int | None:
    """How many members to keep; None for as many as score best. What cannot be is said before any work."""
    wanted = values["n_selected"]
    if values["method"] == "exhaustive" and m > MOST_MEMBERS:
        raise ParameterError(
            f"{owner}: method='exhaustive' tries all choices of at most {MOST_MEMBERS} members, but there are {m}. "
            "Use method='greedy' or 'genetic', or give fewer members."
        )
    if wanted == "auto":
        return None
    if isinstance(wanted, int) and wanted > m:
        raise ParameterError(f"{owner}: n_selected={wanted}, but there are {m} members. Give at most as many, a share, or 'auto'.")
    return wanted if isinstance(wanted, int) else max(1, math.ceil(round(wanted * m, 9)))


def search(values: Values, objective: Objective, said: Floats, target: Target, weight: Floats | None, seed: int) -> Chosen:
    """Choose."""
    method, most = values["method"], members_wanted(values, said.shape[1], "search")
    if method == "ordering":
        return first_of(objective, ordered(values["order"], said, target.y, objective, weight), most)
    if method == "clustering":
        how_many = values["clusters_by"] if most is None else most
        more: Values = {"linkage": values["linkage"], "seed": key(seed, "clusters")}
        return clustered(objective, squared_distances(said, weight), how_many, **more)
    if method == "genetic":
        breeding = Breeding(values["n_generations"], values["population"], genes=values["genes"])
        return genetic(objective, key(seed, "genetic"), breeding, most)
    if method == "exhaustive":
        return exhaustive(objective, most)
    replace = not can_be_pruned(values["estimators"]) if values["with_replacement"] == "auto" else values["with_replacement"]
    options: Values = {"replace": replace, "start": values["n_start"], "most": most}
    if values["n_bags"] > 1:
        return bagged(objective, key(seed, "bags"), values["n_bags"], values["bag_share"], values["n_steps"], **options)
    return greedy(objective, values["n_steps"], **options)
