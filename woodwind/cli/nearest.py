"""What may have been meant by a name that is not there."""

from collections.abc import Sequence
from pathlib import Path

from woodwind.base.nearest import did_you_mean
from woodwind.base.nearest import nearest as closest


def nearest(name: str, there: Sequence[str]) -> str:
    """What may have been meant by a name that is not there, or what there is."""
    meant = did_you_mean(name, there, most=3)
    return meant or f"There are {', '.join(repr(one) for one in there[:8])}{' and more' if len(there) > 8 else ''}."


def nearest_file(path: Path) -> str:
    """What may have been meant by a path that leads nowhere."""
    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r} either."
    names = [other.name for other in path.parent.iterdir() if other.is_file()]
    near = closest(path.name, names, alike=0.6)
    return f"Did you mean {str(path.parent / near[0])!r}?" if near else "Check the name and the folder."
