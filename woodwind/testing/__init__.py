"""Slow, obvious twins of every kernel, and laws that anybody may test against."""
