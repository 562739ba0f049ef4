"""The main job: from a table and a target to an ensemble, its leaderboard and a model that needs nothing but arrays."""
