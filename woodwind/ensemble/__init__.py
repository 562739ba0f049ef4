"""Training procedures as functions and generators."""
