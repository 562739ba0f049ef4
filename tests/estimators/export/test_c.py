"""Models as C, compiled and run: the same predictions, bit for bit."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import woodwind as ww
from reference.exported_models import expected, is_exact, random_case
from woodwind.base.errors import NotExportableError
from woodwind.estimators.export.exporting import graph_of

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def run(model: Any, table: Any, folder: Path) -> dict[str, Any]:
    """What the compiled model predicts, row by row."""
    source, library = folder / "model.c", folder / "model.so"
    source.write_text(model.to_c(), encoding="ascii")
    subprocess.run([str(COMPILER), *STRICT, str(source), "-o", str(library), "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.woodwind_category.restype, loaded.woodwind_category.argtypes = ctypes.c_double, [ctypes.c_int, ctypes.c_char_p]
    array = np.ctypeslib.ndpointer(np.float64, flags="C")
    loaded.woodwind_predict.argtypes = [array, array]
    columns = []
    for position, values in enumerate(model.onnx_inputs(table).values()):
        text = values.dtype == object
        columns.append([[loaded.woodwind_category(position, one.encode())] for one in values[:, 0]] if text else values)
    rows = np.ascontiguousarray(np.hstack([np.asarray(column, np.float64) for column in columns]))
    outputs = graph_of(model).outputs
    out = np.empty((len(rows), sum(one.operation.width for one in outputs)))
    for row, to in zip(rows, out, strict=True):
        loaded.woodwind_predict(row, to)
    found, first = {}, 0
    for one in outputs:
        values = out[:, first : first + one.operation.width]
        found[one.name] = values if one.labels is None else np.asarray(one.labels)[values[:, 0].astype(np.int64)]
        first += one.operation.width
    return found


@pytest.mark.parametrize("seed", range(100, 116))
def test_random_models_predict_the_same_bits(seed: int, tmp_path: Path) -> None:
    model, table = random_case(seed, 200)
    found, wanted = run(model, table, tmp_path), expected(model, table)
    assert found.keys() >= wanted.keys()
    for name, values in wanted.items():
        if name == "label" or is_exact(model):
            assert (found[name] == values).all(), f"{name} of {model!r}"
        else:
            np.testing.assert_allclose(found[name], values, rtol=1e-13, atol=1e-14)


def test_the_top_of_the_file_says_what_is_read_and_given(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": np.arange(60.0), "b */ b": ["x", "y", "z"] * 20})
    model = ww.DecisionTreeClassifier(max_depth=2).fit(table, ["no", "yes"] * 30)
    text = model.to_c()
    head = text[: text.index("#include")]
    assert "x[0]  a: a number; NAN where it is missing" in head
    assert "x[1]  b * / b: text: x[1] = woodwind_category(1, text)" in head
    assert "out[0]  label: the number of the class in woodwind_label" in head
    assert "out[1] to out[2]  probabilities" in head
    assert 'const char *const woodwind_label[2] = {"no", "yes"};' in text
    assert (run(model, table, tmp_path)["label"] == model.predict(table)).all()


def test_a_category_with_a_zero_byte_is_refused() -> None:
    model = ww.DecisionTreeRegressor().fit(pd.DataFrame({"a": ["x\0y", "z"] * 20}), [1.0, 2.0] * 20)
    with pytest.raises(NotExportableError, match="zero byte"):
        model.to_c()
