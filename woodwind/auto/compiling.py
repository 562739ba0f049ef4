"""Whether a family can be begun in the time that is left: kernels that were never used on this machine are compiled first, in one go."""

from woodwind.auto.clock import Clock
from woodwind.kernels.runtime.jit import home

# Seconds that must be left where the large kernel of a family is not there yet: it takes 10 to 20. Of a minute there must be as much left
# when the fifth member begins, or a machine whose jobs all take a minute would never have symmetric trees.
COMPILING = 25.0


def is_time_to_compile(kernel: str, clock: Clock, variants: int = 1) -> bool:
    """Whether so many variants of a kernel are kept already, or there is time to compile one."""
    directory = home()
    if directory is None or clock.left_for_training >= COMPILING:
        return True
    return len(list(directory.glob(f"{kernel}-*"))) >= variants
