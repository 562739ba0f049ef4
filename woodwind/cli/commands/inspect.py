"""woodwind inspect: what is in a model file."""

import dataclasses
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import ENSEMBLE
from woodwind.base.errors import ModelFileError
from woodwind.base.formatting import counted, duration, figure
from woodwind.cli.command import BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, command
from woodwind.cli.console import plain, show, show_json, size_of
from woodwind.cli.model_files import entries_of, open_models, show_target
from woodwind.cli.options import json_option, model_argument
from woodwind.cli.terminal import TextColumn, show_grid
from woodwind.data.tables.fields import CategoryField, Field, TimeField

EXAMPLES = ("woodwind inspect model.ww", "woodwind inspect model.ww --json")
MEMBERS = (TextColumn("member", left=True), TextColumn("family", left=True, rank=1), TextColumn("weight"), TextColumn("size"))
INPUTS = (TextColumn("column", left=True), TextColumn("kind", left=True), TextColumn("", left=True, rank=1))
SPELLED = {"bytes": size_of, "seconds": duration, "rows": "{:,}".format}
SOME = 6  # categories that are named


@command("inspect", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_MODEL])
@model_argument()
@json_option("what is in the file")
def run(model: Path, as_json: bool) -> None:
    """Show what is in a model file.

    The task, the columns that a table to predict needs, the members with their weights and sizes, the score, and who wrote it when.
    """
    opened = open_models(model)
    found = [facts_of(one, model) for one in opened]
    if as_json:
        show_json(plain({"targets": {one.target: facts for one, facts in zip(opened, found, strict=True)}} if len(found) > 1 else found[0]))
        return
    for number, (one, facts) in enumerate(zip(opened, found, strict=True)):
        show_target(one, number, len(opened) > 1)
        show_facts(facts)


def show_facts(facts: dict[str, Any]) -> None:
    """What is in the file, as text."""
    members, columns = facts.pop("members"), facts.pop("columns")
    labels = max(map(len, facts))
    for name, value in facts.items():
        if value is None or value == ():
            continue
        show(f"{name.replace('_', ' '):<{labels}}  {described(name, value)}")
    show()
    parts = [(member["name"], member["family"], f"{member['weight']:.3f}", size_of(member["bytes"])) for member in members]
    show_grid(MEMBERS, parts)
    show()
    inputs = [(column["name"], column["kind"], column["words"]) for column in columns]
    show_grid(INPUTS, inputs)


def facts_of(model: AutoModel, path: Path) -> dict[str, Any]:
    """What is in the file, in the order in which it is shown."""
    try:
        return _facts_of(model, path)
    except (AttributeError, LookupError, TypeError) as error:
        raise ModelFileError(
            f"{path}: what the model predicts for itself does not fit together ({error!r}). Train it once more."
        ) from error


def _facts_of(model: AutoModel, path: Path) -> dict[str, Any]:
    entries = {entry.name: entry for entry in entries_of(model)}
    ensemble = entries[ENSEMBLE]
    members = [
        {"name": name, "family": entries[name].family, "weight": float(weight), "bytes": bytes_of(member)}
        for name, member, weight in zip(model.names, model.members, model.weights, strict=True)
    ]
    made, status = model.facts.get("made", {}), path.stat()
    return {
        "file": str(path),
        "bytes": status.st_size,
        "written": datetime.fromtimestamp(status.st_mtime, UTC).isoformat(" ", "seconds"),
        "made_by": f"woodwind {made.get('versions', {}).get('woodwind', 'of an unknown version')}",
        "task": model.task,
        "target": model.target,
        "classes": model.classes,
        "metric": model.metric,
        "score": ensemble.score,
        "standard_error": ensemble.standard_error,
        "rows": model.facts.get("n_rows"),
        "seconds": made.get("seconds"),
        "seed": made.get("seed"),
        "members": members,
        "columns": [{"name": field.name, "kind": field.kind, "words": words_of(field)} for field in model.schema.fields],
    }


def described(name: str, value: Any) -> str:
    """A fact as text."""
    if name in SPELLED:
        return SPELLED[name](value)
    if isinstance(value, float):
        return figure(value)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def words_of(field: Field) -> str:
    """What training has met in a column."""
    if isinstance(field, CategoryField):
        names = [str(name) for name in field.categories.names]
        some = ", ".join(names[:SOME])
        return f"{counted(len(names), 'category')}: {some}{', ...' if len(names) > SOME else ''}"
    if isinstance(field, TimeField):
        return ", ".join((field.sort, *field.parts))
    return ""


def bytes_of(thing: Any) -> int:
    """Bytes of all arrays in something that is made of arrays."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return sum(bytes_of(getattr(thing, field.name)) for field in dataclasses.fields(thing))
    if isinstance(thing, list | tuple):
        return sum(map(bytes_of, thing))
    return 0
