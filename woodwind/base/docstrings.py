"""Docstrings that share texts: a line that is a name in braces stands for a text that is written once."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def filled_text(text: str, parts: dict[str, str]) -> str:
    """A clean docstring with texts in the place of lines that name them, as {name}; each is as deep as its line."""
    lines = []
    for line in text.splitlines():
        name = line.strip()[1:-1] if line.strip().startswith("{") else ""
        depth = line[: len(line) - len(line.lstrip())]
        lines.append(textwrap.indent(inspect.cleandoc(parts[name]), depth) if name in parts else line)
    return "\n".join(lines)


def fill_docstring(**parts: str) -> Callable[[F], F]:
    """Put texts that several methods have in common into the docstring of one."""

    def complete(method: F) -> F:
        method.__doc__ = filled_text(inspect.cleandoc(method.__doc__ or ""), parts)
        return method

    return complete
