"""Models as ONNX, run by onnxruntime: the same scores, bit for bit."""

import importlib
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import woodwind as ww
from reference.exported_models import expected, is_exact, random_case
from reference.stored_models import stored_models
from woodwind.auto.export import AutoModelWriter
from woodwind.auto.model import AutoModel
from woodwind.auto.several_targets import SeveralTargetsModel
from woodwind.base.errors import NotExportableError, ParameterError
from woodwind.store.export.columns import table_inputs
from woodwind.store.export.graph import Graph, InputColumns, Output
from woodwind.store.export.onnx_writer import to_onnx

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")


def run(model: Any, table: Any, threads: int = 2, **how: Any) -> dict[str, Any]:
    """What onnxruntime predicts with the exported model."""
    made = model.to_onnx(**how)
    onnx.checker.check_model(made, full_check=True)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    session = ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    inputs = model.onnx_inputs(table, dtype=how.get("dtype", "float64"))
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


@pytest.mark.parametrize("seed", range(24))
def test_random_models_predict_the_same(seed: int) -> None:
    model, table = random_case(seed, 500)
    found, wanted = run(model, table), expected(model, table)
    assert found.keys() >= wanted.keys()
    for name, values in wanted.items():
        if name == "label":
            assert (found[name] == values).all()
        elif name == "raw_score" and is_exact(model):
            assert np.array_equal(found[name], values), f"{name} of {model!r}"
        else:
            np.testing.assert_allclose(found[name], values, rtol=1e-13, atol=1e-14, err_msg=f"{name} of {model!r}")


@pytest.mark.parametrize("seed", [3, 5, 8, 13])
def test_single_precision_is_within_a_millionth(seed: int) -> None:
    model, table = random_case(seed, 300)
    table = table.apply(lambda column: column.astype("float32") if column.dtype.kind == "f" else column)
    found, wanted = run(model, table, dtype="float32"), expected(model, table)
    for name, values in wanted.items():
        if name != "label":
            assert found[name].dtype == np.float32
            np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-7)


def mixed_table(n: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"size": rng.normal(size=n), "tree": rng.choice(["ash", "elm", "fir"], n), "old": rng.random(n) > 0.5})


def boosted(**more: Any) -> Any:
    table = mixed_table(400)
    y = table["size"] + (table["tree"] == "elm") * 2.0
    return ww.GradientBoostingRegressor(n_estimators=200, early_stopping=False, random_state=0, **more).fit(table, y)


@pytest.mark.parametrize("n_rows", [1, 7, 60, 700])
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_do_not_depend_on_threads_or_rows(n_rows: int, threads: int) -> None:
    model, table = boosted(), mixed_table(n_rows, 1)
    assert np.array_equal(run(model, table, threads)["prediction"][:, 0], model.predict(table))


def test_sums_in_any_order_are_nearly_the_same() -> None:
    model, table = boosted(), mixed_table(700, 1)
    np.testing.assert_allclose(run(model, table, exact_sums=False)["prediction"][:, 0], model.predict(table), rtol=1e-12, atol=1e-13)


def test_what_training_never_saw_stops_at_the_node() -> None:
    model = boosted()
    table = pd.DataFrame({"size": [np.nan, np.nan, 0.0, np.inf], "tree": ["ash", "yew", None, "yew"], "old": [True, False, True, False]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = model.predict(table)
    assert np.array_equal(run(model, table)["prediction"][:, 0], wanted)
    assert len(set(wanted.tolist())) == 4


def test_inputs_have_the_names_of_the_columns_and_text_stays_text() -> None:
    model = boosted()
    inputs = {one.name: one.type.tensor_type.elem_type for one in model.to_onnx().graph.input}
    assert inputs == {"size": onnx.TensorProto.DOUBLE, "tree": onnx.TensorProto.STRING, "old": onnx.TensorProto.DOUBLE}
    given = model.onnx_inputs(pd.DataFrame({"old": [True], "tree": [None], "size": [1.5]}))
    assert {name: values.tolist() for name, values in given.items()} == {"size": [[1.5]], "tree": [[""]], "old": [[1.0]]}


def test_numbers_alone_are_one_matrix() -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = ww.ExtraTreesClassifier(n_estimators=3, random_state=0).fit(X, X[:, 0] > 0)
    made = model.to_onnx()
    assert [one.name for one in made.graph.input] == ["X"]
    assert {one.domain for one in made.graph.node} == {"", "ai.onnx.ml"}
    found = run(model, X)
    assert found["label"].dtype == np.bool_
    assert np.array_equal(found["probabilities"], model.predict_proba(X))


def test_several_targets_with_labels_have_outputs_of_their_own() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = np.column_stack([np.where(X[:, 0] > 0, "a", "b"), np.digitize(X[:, 1], [-0.5, 0.5]).astype(str)])
    for model in (ww.RandomForestClassifier(n_estimators=4, random_state=0), ww.GradientBoostingClassifier(n_estimators=4, random_state=0)):
        model.fit(X, y)
        found = run(model, X)
        for position, name in enumerate(model.target_names_):
            assert (found[f"label_{name}"] == model.predict(X)[:, position]).all()
            np.testing.assert_allclose(found[f"probabilities_{name}"], model.predict_proba(X)[position], rtol=1e-14, atol=1e-15)


def test_a_booster_that_starts_from_another_model() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    start = ww.DecisionTreeRegressor(max_depth=2)
    model = ww.GradientBoostingRegressor(n_estimators=5, init=start, random_state=0).fit(X, X[:, 0] * X[:, 1])
    assert np.array_equal(run(model, X)["prediction"][:, 0], model.predict(X))


def test_what_cannot_be_exported_is_refused_by_name() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] > 0
    near = ww.DynamicSelectionClassifier({"a": ww.DecisionTreeClassifier(), "b": ww.RandomForestClassifier(n_estimators=3)})
    with pytest.raises(NotExportableError, match=r"DynamicSelectionClassifier cannot be exported. What can be exported are"):
        near.fit(X, y).to_onnx()
    votes = ww.BaggingClassifier(n_estimators=3, voting="hard", random_state=0).fit(X, y)
    with pytest.raises(NotExportableError, match="voting='soft'"):
        votes.to_onnx()
    with pytest.raises(ParameterError, match="dtype must be 'float64' or 'float32'"):
        boosted().to_onnx(dtype="float16")


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("onnx"):
            raise ImportError(name)
        return found(name, *rest)

    model, found = boosted(), importlib.import_module
    model.to_c()
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"pip install 'woodwind\[onnx\]'"):
        model.to_onnx()


# Sorts of models that are refused anyway, and take long to train.
LEFT_OUT = (
    "distribution",
    "dynamic",
    "conformal",
    "mixture",
    "combination",
    "averaging",
    "main job, t",
    "main job, n",
    "main job, r",
    "not ",
)


def test_every_stored_model_predicts_the_same_or_is_refused() -> None:
    refused = []
    for name, (model, X) in stored_models(pd.DataFrame, lambda name: not name.startswith(LEFT_OUT)).items():
        table = pd.DataFrame(X) if isinstance(X, dict) else X
        if isinstance(model, AutoModel | SeveralTargetsModel):
            for one in (model,) if isinstance(model, AutoModel) else model.models:
                _compare_blend(one, table)
            continue
        try:
            found = run(model, table)
        except NotExportableError:
            refused.append(name)
            continue
        wanted = {} if isinstance(getattr(model, "classes_", None), list) else expected(model, table)
        for output, values in wanted.items():
            if output == "label":
                assert (found[output] == values).all(), name
            elif output != "raw_score":
                np.testing.assert_allclose(found[output], values, rtol=1e-13, atol=1e-13, err_msg=name)
    assert {"LogitBoost", "bagging of neighbours"} <= set(refused)


def _compare_blend(model: AutoModel, table: Any) -> None:
    """A model of the main job without an estimator around it: trees, means, encodings, linear members, nets, neighbours."""
    columns = InputColumns(model.schema.header, "AutoModel")
    scores = AutoModelWriter(model, range(model.schema.n_inputs), columns).scores()
    graph = Graph(columns, (Output("scores", scores),), {"model": "AutoModel"})
    session = ort.InferenceSession(to_onnx(graph).SerializeToString(), providers=["CPUExecutionProvider"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = model.scores(table)
    np.testing.assert_allclose(session.run(None, table_inputs(graph, table, np.float64))[0], wanted, rtol=1e-12, atol=1e-12)


def test_a_column_that_held_nothing_and_a_target_of_one_class() -> None:
    X = pd.DataFrame({"a": np.arange(40.0), "b": np.full(40, np.nan)}).astype({"b": object})
    y = np.column_stack([np.repeat("only", 40), np.where(X["a"] > 20, "x", "y")])
    model = ww.GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, y)
    found = run(model, X)
    assert found[f"label_{model.target_names_[0]}"].tolist() == ["only"] * 40
    assert found[f"probabilities_{model.target_names_[0]}"].tolist() == [[1.0]] * 40
