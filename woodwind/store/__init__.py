"""The model file: what a model is, without any code, in one file that is either whole or not there.

`container.py` is the file itself, `codec.py` and `decoding.py` are values as JSON and arrays, `kinds.py` the classes that a file can hold.
"""

from woodwind.store.model_file import load, save

__all__ = ["load", "save"]
