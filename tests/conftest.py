"""Settings that all tests share."""

import os

from hypothesis import HealthCheck, settings

# Standard error belongs to what is being tested.
os.environ.setdefault("WOODWIND_QUIET", "1")
# Without it, scikit-learn leaves one of its common checks out. SciPy reads it when it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# The first example may compile a kernel, so single examples have no deadline (every test has a time limit), and the same
# examples are drawn in every run: a failure is a change in the code, not in the draw.
settings.register_profile("woodwind", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("woodwind")
