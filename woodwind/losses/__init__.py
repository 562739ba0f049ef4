"""What is minimised: a starting score, derivatives, a value, a link, and how a leaf is refitted."""
