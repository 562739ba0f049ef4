"""What comparisons share."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_thread_for_others():
    """Threads of OpenMP wait by spinning: on a busy machine a training of a second took minutes."""
    with threadpool_limits(1):
        yield
