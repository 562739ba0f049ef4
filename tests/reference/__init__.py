"""Slow, obvious twins of every kernel, and what tests are made with. Read `naive_growth.py` first: it is the engine, readable."""
