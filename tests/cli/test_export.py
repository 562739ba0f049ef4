"""woodwind export: ONNX and C from a model file."""

import importlib

import numpy as np
import pytest

import woodwind
from woodwind import store


@pytest.mark.parametrize("stored", ["binary", "multiclass", "regression"], indirect=True)
def test_a_model_of_the_job_is_written_as_onnx_and_predicts_the_same(folder, stored, run):
    ort = pytest.importorskip("onnxruntime")
    done = run("export", "model.ww", "model.onnx")
    assert done.code == 0
    assert done.out.startswith("model.onnx  ")
    session = ort.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    model = woodwind.load("model.ww")
    table = {"age": [20.0, np.nan, 44.0], "plan": ["gold", "never seen", None], "paid": [1.0, 2.0, 90.0]}
    with pytest.warns(woodwind.WoodwindWarning):
        wanted = model.model_.scores(_frame(table))
    found = session.run(["raw_score"], model.onnx_inputs(_frame(table)))[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


def _frame(table):
    return importlib.import_module("pandas").DataFrame(table)


def test_the_ending_says_what_is_written(folder, stored, run):
    assert run("export", "model.ww", "model.c").code == 0
    assert "void woodwind_predict(const double *x, double *out)" in (folder / "model.c").read_text(encoding="ascii")
    done = run("export", "model.ww", "model.pmml")
    assert done.code == 2
    assert "must end in .onnx or .c" in done.err


def test_nothing_is_overwritten_unasked(folder, stored, run):
    (folder / "model.c").write_text("mine", encoding="utf-8")
    done = run("export", "model.ww", "model.c")
    assert done.code == 2
    assert "add --force" in done.err
    assert (folder / "model.c").read_text(encoding="utf-8") == "mine"
    assert run("export", "model.ww", "model.c", "--force").code == 0
    assert run("export", "model.ww", "nowhere/model.c").code == 2


def test_what_cannot_be_exported_is_said_in_a_line(folder, run):
    X = np.random.default_rng(0).normal(size=(60, 2))
    woodwind.BaggingClassifier(n_estimators=3, voting="hard").fit(X, X[:, 0] > 0).save("votes.ww")
    done = run("export", "votes.ww", "votes.onnx")
    assert done.code == 2
    assert "Set voting='soft'" in done.err
    assert not (folder / "votes.onnx").exists()
    store.save("other.ww", {"a": 1})
    assert run("export", "other.ww", "other.c").code == 2


def test_a_library_that_is_missing_is_named(folder, stored, run, monkeypatch):
    real = importlib.import_module

    def missing(name, *rest):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    done = run("export", "model.ww", "model.onnx")
    assert done.code == 2
    assert "pip install 'woodwind[onnx]'" in done.err
