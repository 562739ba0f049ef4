"""Parameters are data: type, default, bounds and words are declared once; signature, check and docstring come from that."""
