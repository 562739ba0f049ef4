"""The page: data, style and script in one file, which loads nothing."""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from woodwind import __version__
from woodwind.playground import surfaces
from woodwind.playground.surfaces import Run, drawn


def page(found: Iterable[Run]) -> str:
    """The page of some runs. Grids are in it as compressed bytes, in the order of the runs; everything else is JSON."""
    made = list(found)
    tables = [name for name in surfaces.TABLES if any(one.table == name for one in made)]
    facts = {
        "side": surfaces.SIDE, "rounds": surfaces.ROUNDS, "depths": surfaces.DEPTHS, "rates": surfaces.LEARNING_RATES,
        "noises": surfaces.NOISES, "tables": tables, "methods": surfaces.METHODS, "bins": surfaces.BINS,
        "points": {f"{name} {noise:g}": _points(name, noise) for name in tables for noise in surfaces.NOISES},
        "runs": [_facts(one) for one in made],
    }  # fmt: skip
    grids = base64.b64encode(zlib.compress(b"".join(one.grids.tobytes() for one in made), 9)).decode()
    style, script = _source("playground.css"), _source("playground.js")
    text = _source("playground.html").replace("/* policy */", _policy(style, script)).replace("/* version */", __version__)
    text = text.replace("/* style */", style).replace("/* script */", script)
    return text.replace("/* facts */", json.dumps(facts, separators=(",", ":"))).replace("/* grids */", grids)


def _facts(one: Run) -> dict[str, Any]:
    return {
        "table": one.table, "noise": one.noise, "method": one.method, "depth": one.depth, "rate": one.learning_rate,
        "train": one.train.round(4).tolist(), "test": one.test.round(4).tolist(), "margins": one.margins.tolist(),
    }  # fmt: skip


def _points(table: str, noise: float) -> list[list[float]]:
    """Rows of the training: both features and the class."""
    rows = drawn(table, surfaces.N_TRAIN, noise, 0)
    return [[*map(float, point), int(label)] for point, label in zip(rows.X.round(3), rows.y, strict=True)]


def _policy(style: str, script: str) -> str:
    ours = f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return f"default-src 'none'; {ours}; img-src data:; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _source(name: str) -> str:
    return files("woodwind.playground").joinpath("web", name).read_text(encoding="utf-8")
