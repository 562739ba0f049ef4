"""Endings of file names: what somebody who sees one will take the file for."""

import os

MODEL, PAGE = "a model file", "a page for the browser"

MEANING = {
    "a model in ONNX": (".onnx",),
    "a pickle": (".pkl", ".pickle", ".joblib", ".dill", ".cloudpickle", ".skops"),
    "a model of another library": (".cbm", ".ubj", ".bst", ".pmml", ".pt", ".pth", ".keras", ".safetensors", ".tflite"),
    "JSON": (".json", ".jsonl", ".ndjson"),
    "a table": (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".xls", ".xlsx", ".ods", ".orc", ".avro", ".sqlite", ".db", ".duckdb"),
    "arrays": (".npy", ".npz", ".h5", ".hdf5", ".mat"),
    "text": (".txt", ".md", ".log", ".xml", ".yaml", ".yml", ".toml", ".ini", ".py", ".ipynb", ".r", ".tex"),
    PAGE: (".html", ".htm"),
    "a picture or a document": (".png", ".jpg", ".jpeg", ".svg", ".gif", ".pdf", ".docx", ".pptx"),
    "a packed file": (".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip", ".tar", ".tgz", ".7z"),
    MODEL: (".ww", ".wwpickle"),
}
_OF_ENDING = {ending: meaning for meaning, endings in MEANING.items() for ending in endings}


def meaning_of(path: str | os.PathLike[str]) -> str:
    """What the ending of a name says that the file is; "" where it says nothing in particular.

    >>> meaning_of("model.onnx"), meaning_of("model.v2"), meaning_of("model")
    ('a model in ONNX', '', '')
    """
    return _OF_ENDING.get(os.path.splitext(os.fspath(path))[1].lower(), "")
