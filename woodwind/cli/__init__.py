"""The command line: one file for each command."""

import time

# When the command began, by time.perf_counter: budgets of time count from here.
STARTED = time.perf_counter()
