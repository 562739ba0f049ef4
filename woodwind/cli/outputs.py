"""Where results may be written: never over something that is not theirs."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from woodwind.base.file_endings import PAGE, meaning_of
from woodwind.cli.command import wrong
from woodwind.cli.options import files_of
from woodwind.store.container import MAGIC

HEAD = 1 << 16  # bytes in which a file says what it is


def check_name(path: Path) -> None:
    """End the call where the system has no room for the name of an output."""
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            size = len(os.fsencode(path.name))
            wrong(f"the name {path.name[:30] + '...'!r} is too long for this drive: it has {size} bytes. Choose a shorter one.")


def check_folder(path: Path) -> None:
    """End the call unless the folder of an output is there."""
    check_name(path)
    if not path.parent.is_dir():
        wrong(f"there is no folder {str(path.parent)!r} to write {path.name!r} into. Make it, or choose another with -o.")
    if path.is_dir():
        wrong(f"{str(path)!r} is a folder. Give the name of a file.")


def check_not_an_input(path: Path, inputs: Sequence[str | Path]) -> None:
    """End the call where an output would overwrite what is read."""
    check_name(path)
    for source in inputs:
        if path.exists() and Path(source).exists() and path.samefile(source):
            wrong(f"{str(path)!r} is read by this call and would be overwritten by it. Choose another name with -o.")


def is_model(path: Path) -> bool:
    """Whether a file says that it is a model file."""
    return path.is_file() and head_of(path).startswith(MAGIC)


def is_page(path: Path) -> bool:
    """Whether a file looks like a page of ours."""
    head = head_of(path)
    return head[:14].lower() == b"<!doctype html" and b"Woodwind" in head


def check_model(path: Path, force: bool) -> None:
    """End the call where a model would overwrite something that is not one."""
    check_folder(path)
    if path.exists() and not force and not is_model(path):
        wrong(f"{str(path)!r} is there already and is not a model file. Choose another name with -o, or add --force.")


def check_not_a_model(path: Path) -> None:
    """End the call where something else would overwrite a model."""
    if is_model(path):
        wrong(f"{str(path)!r} is a model file and would be overwritten. Choose another name with -o.")


def check_new(path: Path, force: bool) -> None:
    """End the call where a file would be overwritten, unless that is wanted."""
    check_folder(path)
    if path.exists() and not force:
        wrong(f"{str(path)!r} is there already. Choose another name with -o, or add --force to overwrite it.")


def check_table(path: Path) -> None:
    """End the call where a model is given for a table."""
    if is_model(path):
        wrong(f"{str(path)!r} is a model file. Give a table to read: CSV, Parquet, Feather or Arrow.")


def check_inputs(tables: tuple[str, ...]) -> None:
    """End the call where something that is no table is given for one."""
    for file in files_of(tables):
        if Path(file).is_dir():
            wrong(f"{file!r} is a folder. Give a file, or a pattern such as '{file}/*.csv'.")
        check_table(Path(file))


def check_page(path: Path, force: bool) -> None:
    """End the call where a page would overwrite something that is not a page of ours."""
    check_folder(path)
    if path.exists() and not force and not is_page(path):
        wrong(f"{str(path)!r} is there already and is not a report of Woodwind. Choose another name, or add --force.")
    check_meaning(path, PAGE, ".html")


def check_meaning(path: Path, written: str, ending: str) -> None:
    """End the call where a file would be taken for something else than what is written."""
    if meaning_of(path) not in ("", written):
        wrong(f"the ending of {str(path)!r} says {meaning_of(path)}, and {written} would be written. Let it end in {ending}.")


def head_of(path: Path) -> bytes:
    """The first bytes of a file."""
    with path.open("rb") as file:
        return file.read(HEAD)
