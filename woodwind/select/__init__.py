"""Choosing members: which to keep for good, and which to ask for a given case. Functions of prediction matrices."""
