"""Summaries of truth, prediction and weight."""
