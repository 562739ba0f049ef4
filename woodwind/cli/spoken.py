"""Messages of the library in the words of the command: an option is named as it is typed, and what has none is not advised."""

import ast
import re
import shlex
from collections.abc import Callable
from typing import Any

# What the library says, and what is said here instead.
_SAID: tuple[tuple[str, str | Callable[["re.Match[str]"], str]], ...] = (
    (r"\bsay task=(['\"])(\w+)\1", r"give --task \2"),
    (r"\btask=(['\"])(\w+)\1", r"--task \2"),
    (r"\(schema=\.\.\.\)", "(--schema)"),
    (r"\bsay (?=(?:group|time_column)=)", "give "),
    (r"\b(ignore|group|time_column)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", lambda found: _option(found[1], found[2])),
    (r"\bdrop_missing_target=True \(--drop-missing-target\)", "--drop-missing-target"),
    (r", or say header=False\b", ""),
    (r"; or, if these are names, say header=True\b", ""),
    (r", or read only the columns that all files have with columns=\[\.\.\.\]", ""),
    (r"; guard_formulas=True puts an apostrophe before it", ""),
    (r"\bwithout resume\b", "without --resume"),
    (r"\bresume=True\b", "--resume"),
    (r"\bname another folder\b", "choose another model file with -o"),
    (r"\bName another folder(?: for checkpoints)?\b", "Choose another model file with -o"),
    (r"\bAutoEnsemble(?:Classifier|Regressor): ", ""),
    (r"(?<![\d.,])1 (column|fold|member|model|round|row)s\b", r"1 \1"),
)

# The parts of an object that are sentences.
_WORDS = ("words", "note", "notes")


def _option(name: str, value: str) -> str:
    """An option and the name of a column, quoted for a shell where it must be."""
    return f"--{name.replace('_', '-')} {shlex.quote(ast.literal_eval(value))}"


def in_options(words: str) -> str:
    """The same words for somebody who types commands."""
    for said, instead in _SAID:
        words = re.sub(said, instead, words)
    return words


def spoken(content: Any, are_words: bool = False) -> Any:
    """An object whose sentences name options as they are typed; names and labels stay as they are."""
    if isinstance(content, dict):
        return {key: spoken(value, key in _WORDS) for key, value in content.items()}
    if isinstance(content, list):
        return [spoken(value, are_words) for value in content]
    return in_options(content) if are_words and isinstance(content, str) else content
