"""woodwind version: what to tell with a question or a fault."""

import platform
from importlib import metadata

from woodwind import __version__
from woodwind.cli.command import FINE, WRONG_CALL, command
from woodwind.cli.console import show, show_json
from woodwind.cli.options import json_option

BELOW = ("numpy", "numba", "scikit-learn", "pyarrow", "narwhals", "click", "rich", "jinja2")


@command("version", examples=["woodwind version", "woodwind version --json"], exits=[FINE, WRONG_CALL])
@json_option("the versions")
def run(as_json: bool) -> None:
    """Show the versions of Woodwind and of what it stands on."""
    versions = {"woodwind": __version__, "python": platform.python_version()} | {name: version_of(name) for name in BELOW}
    if as_json:
        show_json(versions)
    else:
        for name, version in versions.items():
            show(f"{name:<13} {version}")


def version_of(name: str) -> str:
    """The version of an installed package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
