"""The frozen answers of DESlib, read: tests/data/dynamic_selection/README.md says what they are."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent.parent / "data" / "dynamic_selection"
BITS = ("chance", "turned", "asked")


@dataclass(frozen=True)
class Table:
    """Rows, and what members predict for them."""

    X_selection: np.ndarray
    y_selection: np.ndarray
    X_query: np.ndarray
    y_query: np.ndarray
    shares_selection: np.ndarray
    shares_query: np.ndarray
    neighbours: np.ndarray
    neighbours_knne: np.ndarray

    @property
    def n_classes(self):
        return self.shares_query.shape[2]

    @property
    def votes_selection(self):
        return self.shares_selection.argmax(axis=2)

    @property
    def votes_query(self):
        return self.shares_query.argmax(axis=2)


@dataclass(frozen=True)
class Case:
    """What was asked, and what DESlib said."""

    name: str
    table: Table
    kind: str
    params: dict[str, Any]
    labels: np.ndarray
    asked: np.ndarray
    chance: np.ndarray
    turned: np.ndarray
    selected: np.ndarray | None
    clusters: np.ndarray | None
    competence: np.ndarray | None
    diversity: np.ndarray | None


@cache
def arrays():
    with np.load(HERE / "answers.npz") as file:
        return {name: file[name] for name in file.files}


@cache
def table(name):
    scale = {"X_selection": 1000.0, "X_query": 1000.0, "shares_selection": 1000.0, "shares_query": 1000.0}
    found = {key: arrays()[f"{name}/{key}"] for key in Table.__dataclass_fields__}
    return Table(**{key: value / scale[key] if key in scale else value.astype(np.int64) for key, value in found.items()})


@cache
def cases():
    """All cases, by name: the class, the table and the parameters."""
    listed = json.loads((HERE / "cases.json").read_text())["cases"]
    n_queries = arrays()["labels"].shape[1]
    bits = {name: np.unpackbits(arrays()[name], count=len(listed) * n_queries).reshape(len(listed), -1).astype(bool) for name in BITS}
    n_members = table("two").votes_query.shape[1]
    selected = np.unpackbits(arrays()["selected"]).astype(bool)
    out = {}
    for number, about in enumerate(listed):
        asked = bits["asked"][number]
        size = n_queries * n_members
        rows = asked.sum() if "clusters" not in about else about["params"].get("n_clusters", 5)
        part = {key: arrays()[key][about[key] :][:rows].astype(float) if key in about else None for key in ("competence", "diversity")}
        told = ", ".join(f"{key}={value}" for key, value in about["params"].items())
        name = f"{about['class']}({told}) on {about['table']}"
        out[name] = Case(
            name=name,
            table=table(about["table"]),
            kind=about["class"],
            params=about["params"],
            labels=arrays()["labels"][number].astype(np.int64),
            **{key: bits[key][number] for key in BITS},
            selected=selected[about["selected"] * size :][:size].reshape(n_queries, -1) if "selected" in about else None,
            clusters=arrays()["clusters"][about["clusters"]].astype(np.int64) if "clusters" in about else None,
            **part,
        )
    return out
