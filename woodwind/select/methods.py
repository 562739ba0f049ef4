"""The methods of dynamic selection: a table of compositions.

A method is a competence, a choice and a mode; the region that a competence looks at comes with the queries, and the combination is the same
for all. Functions name what they want to know, in any order, and are given that by name:

    competence   of facts, region, similar, votes, shares            -> scores (q, m), larger is better
    choose       of these and scores                                 -> mask (q, m) of the members that are chosen
    learn        of facts and search (neighbours of selection rows)  -> anything, kept as facts.learnt

What follows a bare * in their signatures are options of the method, with their defaults. Mode: 'selection' lets the chosen members vote
alike, 'weighting' lets all members vote by their scores, 'hybrid' the chosen ones by their scores.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from woodwind.select.choice import all_best
from woodwind.select.competence import run_of_hits
from woodwind.select.facts import Floats, Mask, Queries, SelectionFacts

Mode = Literal["selection", "weighting", "hybrid"]


@dataclass(frozen=True, eq=False)
class Method:
    """One row of the table."""

    title: str
    paper: str
    competence: Callable[..., Any]
    choose: Callable[..., Any]
    mode: Mode = "selection"
    k: int | None = 7  # rows in a region unless the user says otherwise; None for all selection rows, in no order
    needs_shares: bool = False  # members are asked for probabilities
    similar: bool = False  # rows with similar output profiles are looked for
    learn: Callable[..., Any] | None = None

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options that the functions of the method have, and their defaults."""
        parts = (self.competence, self.choose, self.learn)
        return {name: default for part in parts if part is not None for name, default in options_of(part).items()}


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """What follows the bare * in the signature of a function, with the defaults."""
    return {p.name: p.default for p in _parameters(function).values() if p.kind is p.KEYWORD_ONLY}


def told(function: Callable[..., Any], known: dict[str, Any]) -> Any:
    """What a function gives when it is told all that it names of what is known."""
    return function(**{name: known[name] for name in _parameters(function) if name in known})


def scores_of(method: Method, facts: SelectionFacts, queries: Queries, options: dict[str, Any]) -> Floats:
    """How good members are near each query (q, m)."""
    scores: Floats = told(method.competence, _known(facts, queries, options))
    return scores


def chosen(method: Method, scores: Floats, facts: SelectionFacts, queries: Queries, options: dict[str, Any]) -> Mask:
    """Who is chosen for each query (q, m)."""
    mask: Mask = told(method.choose, _known(facts, queries, options) | {"scores": scores})
    return mask


def _known(facts: SelectionFacts, queries: Queries, options: dict[str, Any]) -> dict[str, Any]:
    about = {name: getattr(queries, name) for name in ("region", "similar", "votes", "shares")}
    return {"facts": facts} | about | options


METHODS: dict[str, Method] = {
    "knora_e": Method("KNORA-Eliminate", "Ko, Sabourin & Britto 2008", run_of_hits, all_best),
}
