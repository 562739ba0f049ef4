"""The model file: what a model is, without any code, in one file that is either whole or not there.

`container.py` is the file itself, `codec.py` and `decoding.py` are values as JSON and arrays, `kinds.py` the classes that a file can hold.

Inside:

    annotations  Does a value fit the annotation of the field that it is to stand in?
    codec        Values as JSON and arrays; the way back is in `decoding.py`
    container    The container of a model file: a table of contents as JSON, and arrays as they lie in memory
    decoding     JSON and arrays as values again: what `codec.py` writes, and nothing else
    imported     Models of other libraries, read from their files: XGBoost, LightGBM, CatBoost
    export       Trained models for other programs: ONNX and C
    kinds        What a model file can hold beside plain values and arrays: one fixed table of classes
    model_file   Saving and loading whatever a model file can hold
    pickled      Models with parts that no model file can hold, as pickles: only where the user asks for it by name, on both sides
"""

from woodwind.store.model_file import load, save

__all__ = ["load", "save"]
