"""What every room may use: errors, fixed point, random streams by key, the thread pool. Imports NumPy only."""
