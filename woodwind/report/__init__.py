"""Facts to figures to one page of HTML that needs nothing else."""

from woodwind.report.page import page

__all__ = ["page"]
