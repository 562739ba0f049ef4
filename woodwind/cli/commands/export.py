"""woodwind export: a model for other programs, as ONNX or as C."""

from pathlib import Path
from typing import Any

import click

from woodwind.base.atomic import write_file
from woodwind.cli.command import BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, command, wrong
from woodwind.cli.console import show, size_of
from woodwind.cli.options import force_option, model_argument
from woodwind.cli.outputs import check_name
from woodwind.estimators.auto.load import load
from woodwind.estimators.auto.several_targets import SeveralTargetsEnsemble

EXAMPLES = (
    "woodwind export model.ww model.onnx",
    "woodwind export model.ww model.onnx --dtype float32",
    "woodwind export model.ww model.c",
)
ENDINGS = (".onnx", ".c")


@command("export", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_MODEL])
@model_argument()
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--dtype", type=click.Choice(["float64", "float32"]), default="float64", help="Type of the numbers of an ONNX model.")
@click.option("--exact-sums/--any-order", default=True, help="Whether an ONNX model adds trees in their order, for the same bits.")
@force_option("an older file")
def run(model: Path, output: Path, dtype: str, exact_sums: bool, force: bool) -> None:
    """Write a model for other programs, as ONNX or as C.

    The ending of the second name says which: .onnx is for onnxruntime and its like, .c is one file of C that needs nothing else.
    """
    if output.suffix.lower() not in ENDINGS:
        wrong(f"the name {output.name!r} must end in .onnx or .c, which says what is written.")
    check_name(output)
    if not output.parent.is_dir() or output.is_dir():
        wrong(f"{str(output)!r} is no file that can be written: its folder must be there, and it must be no folder itself.")
    if output.exists() and not force:
        wrong(f"{str(output)!r} is there already. Choose another name, or add --force to overwrite it.")
    trained: Any = load(model)
    if isinstance(trained, SeveralTargetsEnsemble):
        wrong(
            f"{str(model)!r} holds one ensemble for each of {len(trained.targets_)} targets. load(...).ensembles_[target] is one "
            "that can be exported."
        )
    if not hasattr(trained, "to_onnx"):
        wrong(f"{str(model)!r} holds a {type(trained).__name__}, and only trained estimators can be exported.")
    try:
        data = trained.to_c().encode() if output.suffix.lower() == ".c" else _onnx_bytes(trained, dtype, exact_sums)
    except ImportError as error:
        wrong(str(error))
    write_file(output, [data])
    show(f"{output}  {size_of(len(data))}")


def _onnx_bytes(trained: Any, dtype: str, exact_sums: bool) -> bytes:
    made: bytes = trained.to_onnx(dtype=dtype, exact_sums=exact_sums).SerializeToString()
    return made
