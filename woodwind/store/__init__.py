"""The model file: one file of arrays and plain values, with checksums and no code."""
