"""How the model is used, and how it was made."""

import importlib
import platform
from importlib import metadata
from typing import Any

import numpy as np

from woodwind.auto.facts.json_values import brief
from woodwind.auto.outcome import Outcome

PACKAGES = ("numpy", "numba", "scikit-learn", "pyarrow")
MOST_COLUMNS = 200


def use_facts(outcome: Outcome) -> dict[str, Any]:
    """The columns that a table needs, with an example row."""
    table = outcome.X
    names = [str(name) for name in table.column_names]
    some = range(min(MOST_COLUMNS, len(names)))
    example = [table.column(position)[0].as_py() if table.num_rows else None for position in some]
    shown = {brief(name): _value(value) for name, value in zip(names, example, strict=False)}
    return {"columns": [brief(name) for name in names[:MOST_COLUMNS]], "n_columns": len(names), "example": shown}


def _value(value: Any) -> Any:
    """A value as JSON can hold it: numbers and truth values as they are, all else as text."""
    return value if value is None or isinstance(value, bool | int | float) else brief(value, 60)


def made_facts(outcome: Outcome) -> dict[str, Any]:
    """Time, seed, folds and versions."""
    # By name: the room below must not know the house.
    versions = {"woodwind": importlib.import_module("woodwind").__version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    tried = [entry for entry in outcome.leaderboard if entry.family != "ensemble"]
    return {
        "seconds": outcome.seconds,
        "seed": outcome.seed,
        "folds": max((entry.folds for entry in tried), default=0),
        "tried": len(tried),
        "finished": len(outcome.names),
        "chosen": int(np.count_nonzero(np.asarray(outcome.model.weights) > 0.0)),
        "versions": versions,
        "platform": f"{platform.system()} on {platform.machine()}",
        "notes": [brief(note, 1000) for note in outcome.notes],
    }


def split_facts(outcome: Outcome) -> dict[str, Any]:
    """How rows were held out: at random, by groups, by time."""
    by = [name for name, is_so in (("time", outcome.ordered), ("groups", outcome.groups is not None)) if is_so]
    return {
        "by": by or ["random"],
        "folds": max((entry.folds for entry in outcome.leaderboard), default=0),
        "rows": len(outcome.y),
        "held_out": int(np.count_nonzero(outcome.scored)),
        # In time order the first block has no earlier one that weights could be found from.
        "scored": int(np.count_nonzero(np.isfinite(outcome.blend_out_of_fold).all(axis=1) & outcome.scored)),
        "columns": {role: brief(name) for role, name in outcome.split_columns.items()},
        "groups": None if outcome.groups is None else len(np.unique(outcome.groups)),
    }


def suspicion_facts(outcome: Outcome) -> list[dict[str, Any]]:
    """What is odd about the data, in words."""
    return [
        {
            "kind": brief(one.kind),
            "columns": [brief(name) for name in one.columns[:MOST_COLUMNS]],
            "words": brief(one.words, 1000),
            "severity": brief(one.severity),
        }
        for one in outcome.suspicions
    ]
