"""Facts to figures to one page of HTML that needs nothing else."""
