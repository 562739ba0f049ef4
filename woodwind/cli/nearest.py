"""What may have been meant by a name that is not there."""

import difflib
from collections.abc import Sequence
from pathlib import Path


def nearest(name: str, there: Sequence[str]) -> str:
    """What may have been meant by a name that is not there, or what there is."""
    near = difflib.get_close_matches(name, there, n=3, cutoff=0.5) or [one for one in there if one.lower() == name.lower()]
    if near:
        return f"Did you mean {' or '.join(repr(one) for one in near)}?"
    return f"There are {', '.join(repr(one) for one in there[:8])}{' and more' if len(there) > 8 else ''}."


def nearest_file(path: Path) -> str:
    """What may have been meant by a path that leads nowhere."""
    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r} either."
    names = [other.name for other in path.parent.iterdir() if other.is_file()]
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"Did you mean {str(path.parent / near[0])!r}?" if near else "Check the name and the folder."
