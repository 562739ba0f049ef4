"""Rows by the names of their columns: what is answered, and what is refused by which sentence."""

import json

import numpy as np
import pytest

from tests.serve.conftest import ROW, blend, classifier, served, table
from woodwind import store
from woodwind.auto.shap import explain_model

JSON = {"Content-Type": "application/json"}


def rows(n=7):
    return table(n).to_pylist()


def test_one_row_has_the_prediction_of_the_estimator(one):
    model = classifier()
    for row in rows():
        found = one.post("/predict", json=row).json()
        X = table(1).from_pylist([row], schema=table(1).schema)
        assert found["prediction"] == model.predict(X)[0]
        assert list(found["probabilities"].values()) == model.predict_proba(X)[0].tolist()
        assert list(found["probabilities"]) == ["no", "yes"]


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_rows_and_columns_have_the_predictions_of_the_blend(client, task):
    model, X = blend(task), table(9)
    by_rows = client.post(f"/predict?model={task}", json=X.to_pylist()).json()["predictions"]
    by_columns = client.post("/predict", json={"columns": X.to_pydict(), "model": task}).json()["predictions"]
    one_by_one = [client.post(f"/predict?model={task}", json={"row": row}).json() for row in X.to_pylist()]
    assert by_rows == by_columns == [{key: one[key] for key in by_rows[0]} for one in one_by_one]
    assert [one["prediction"] for one in by_rows] == model.predict(X).tolist()
    if task != "regression":
        assert [list(one["probabilities"].values()) for one in by_rows] == model.predict_proba(X).tolist()
    assert ("probabilities" in by_rows[0]) == (task != "regression")


def test_explanations_add_up_and_are_those_of_the_model(client):
    found = client.post("/predict", json={"rows": rows(3), "model": "multiclass", "explain": True}).json()["predictions"]
    expected = explain_model(blend("multiclass"), table(3))
    for number, one in enumerate(found):
        told = one["explanation"]
        by_name = {part["column"]: part["contributions"] for part in told["columns"]}
        assert [by_name[name] for name in expected.names] == expected.values[number].tolist()
        total = np.array(told["base"]) + np.sum(list(by_name.values()), axis=0)
        np.testing.assert_allclose(total, told["scores"], rtol=1e-12)
        assert told["outputs"] == ["high", "low", "middle"]
    assert "explanation" not in client.post("/predict?model=multiclass", json=ROW).json()


def test_estimators_explain_as_well(one):
    told = one.post("/predict?explain=true", json=ROW).json()["explanation"]
    assert {part["column"] for part in told["columns"]} == set(ROW)
    assert told["scale"] == "log-odds"


def test_intervals_and_sets_of_labels_are_those_of_the_model(client):
    found = client.post("/predict?model=regression&interval=0.8", json=ROW).json()
    low, high = blend("regression").intervals.bounds(np.array([found["prediction"]]), 0.8)
    assert found["interval"] == {"level": 0.8, "lower": low[0], "upper": high[0]}
    held = client.post("/predict", json={"row": ROW, "model": "binary", "interval": 0.9}).json()["set"]
    assert set(held["labels"]) <= {"no", "yes"}


def test_a_model_without_intervals_says_so(one):
    answer = one.post("/predict?interval=0.9", json=ROW)
    assert answer.status_code == 400
    assert "field interval" in answer.json()["error"]


def test_null_is_missing_and_an_unseen_category_is_told(client):
    found = client.post("/predict?model=binary", json={**ROW, "plan": "silver", "age": None}).json()
    assert found["warnings"] == ["column 'plan' has the text 'silver', which training never saw."]
    row = table(1).from_pylist([{**ROW, "plan": "silver", "age": None}], schema=table(1).schema)
    with pytest.warns(match="silver"):
        assert list(found["probabilities"].values()) == blend().predict_proba(row)[0].tolist()
    assert "warnings" not in client.post("/predict?model=binary", json=ROW).json()


def test_probabilities_can_be_left_out(client):
    assert "probabilities" not in client.post("/predict?model=binary&probabilities=false", json=ROW).json()


REFUSED = [
    ({**ROW, "age": "41"}, "column 'age' takes a number without quotes"),
    ({**ROW, "plan": 3}, "column 'plan' takes text in quotes"),
    ({**ROW, "age": [41]}, "column 'age' takes one value"),
    ({**ROW, "plan": {"is": "basic"}}, "column 'plan' takes one value"),
    ({**ROW, "agee": 1}, "there is no column 'agee'. Did you mean 'age'?"),
    ({"age": 41, "paid": 3}, "there is no value for column 'plan'"),
    ({**ROW, "explain": True}, "there is no column 'explain'. Put it beside row."),
    ({**ROW, "paid": 10**400}, "column 'paid' takes a number that is finite"),
    ({**ROW, "plan": "\ud800"}, "column 'plan' takes text of whole characters"),
    ([ROW, {**ROW, "paid": "x"}], "a number without quotes, or null where it is missing, but it has the text 'x' in row 1."),
    ([ROW, 3], "a row must be an object of values by column in row 1, but it is the number 3."),
    ([], "there are no rows"),
    ({"rows": {}}, "the field rows must be a list"),
    ({"row": []}, "the field row must be an object"),
    ({"columns": {"age": [1], "plan": ["basic"], "paid": 3}}, "column 'paid' must be a list"),
    ({"columns": {"age": [1], "plan": ["basic"], "paid": [1, 2]}}, "column 'paid' has 2 values, and column 'age' has 1."),
    ({"rows": [ROW], "row": ROW}, "the body has row and rows"),
    ({"rows": [ROW], "verbose": 1}, "the body has a field 'verbose' that is not known"),
    ({"row": ROW, "explain": "perhaps"}, "the field explain must be true or false"),
    ({"row": ROW, "explain": 1}, "the field explain must be true or false"),
    ({"row": ROW, "interval": 90}, "the field interval must be a share between 0 and 1"),
    ({"row": ROW, "model": 3}, "the field model must be the name of a model"),
    ("text", "the body must be a row"),
    (None, "the body must be a row"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "words"), REFUSED, ids=[words[:50] for _, words in REFUSED])
def test_what_is_wrong_is_told_in_a_sentence_that_names_the_field(one, body, words):
    answer = one.post("/predict", content=json.dumps(body), headers=JSON)
    assert answer.status_code == 400, answer.text
    assert words in answer.json()["error"]
    assert answer.json()["error"].endswith((".", "?"))


BODIES = [
    (b"", 400, "the body is empty"),
    (b"{", 400, "the body is no JSON"),
    (b"\xff\xfe", 400, "the body is not UTF-8: byte 0"),
    (b'{"age": NaN, "plan": "basic", "paid": 1}', 400, "the body holds NaN"),
    (b'{"age": -Infinity}', 400, "the body holds -Infinity"),
    (b'{"age": 1e999, "plan": "basic", "paid": 1}', 400, "column 'age' takes a number that is finite"),
    (b'{"age": 1, "age": 2}', 400, "the key 'age' comes twice"),
    (b"[" * 15_000, 400, "nested too deeply"),
    (b'{"a":' * 3_000, 400, "the body is"),  # nested too deeply, or never ended: Python 3.13 reads deeper
    (b'{"age": ' + b"9" * 5000 + b"}", 400, "a number that cannot be read"),
    (b" " * 20_001, 413, "at most 20,000 bytes"),
    (b"[" + b'{"age": 1},' * 60 + b"{}]", 413, "there are 61 rows, and a request may have 50"),
]


@pytest.mark.parametrize(("body", "status", "words"), BODIES, ids=[words for *_, words in BODIES])
def test_a_body_that_cannot_be_read_is_told_why(one, body, status, words):
    answer = one.post("/predict", content=body, headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert words in answer.json()["error"]


def test_a_body_without_a_length_is_counted_while_it_comes(one):
    async def pieces():
        for _ in range(10):
            yield b" " * 5000

    answer = one.post("/predict", content=pieces(), headers=JSON)
    assert answer.status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_taken(one, kind):
    answer = one.post("/predict", content=json.dumps(ROW), headers={"Content-Type": kind})
    assert answer.status_code == 415
    assert "Content-Type" in answer.json()["error"]


def test_of_several_models_one_must_be_named(client):
    assert "the field model is missing" in client.post("/predict", json=ROW).json()["error"]
    missing = client.post("/predict?model=<b>", json=ROW)
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/json")


def test_too_many_rows_to_explain(client):
    answer = client.post("/predict?model=binary", json={"rows": [ROW] * 6, "explain": True})
    assert answer.status_code == 413
    assert "the field explain is for 5 rows at most" in answer.json()["error"]


def test_the_address_is_read_strictly(one):
    assert "'verbose'" in one.post("/predict?verbose=1", json=ROW).json()["error"]
    assert "'explain' twice" in one.post("/predict?explain=true&explain=false", json=ROW).json()["error"]


def test_the_schema_says_what_a_row_is_made_of(client):
    found = client.get("/schema?model=binary").json()
    assert [column["name"] for column in found["columns"]] == ["age", "plan", "paid"]
    assert [column["kind"] for column in found["columns"]] == ["number", "category", "number"]
    assert found["columns"][1]["categories"] == ["basic", "gold", "plus"]
    assert found["classes"] == ["no", "yes"]
    assert found["example"] == ROW
    assert (found["task"], found["target"], found["intervals"], found["explains"]) == ("classification", "late", True, True)
    assert client.get("/models").json() == {"models": ["binary", "multiclass", "regression", "estimator"]}


def test_a_column_may_be_called_like_a_field(tmp_path):
    import pyarrow as pa

    from woodwind import GradientBoostingRegressor

    X = pa.table({"row": np.arange(40.0), "model": ["a", "b"] * 20})
    GradientBoostingRegressor(n_estimators=2, early_stopping=False).fit(X, np.arange(40.0)).save(tmp_path / "m.ww")
    with served({"m": tmp_path / "m.ww"}) as client:
        assert client.post("/predict", json={"row": 3, "model": "a"}).status_code == 200
        assert client.post("/predict", json={"row": {"row": 3, "model": "a"}, "model": "m"}).status_code == 200


def test_dates_are_read_as_in_training(tmp_path):
    import datetime as dt

    import pyarrow as pa

    from woodwind import GradientBoostingRegressor

    days = np.datetime64("2026-01-01T00:00:00", "us") + np.arange(60) * np.timedelta64(1, "D")
    X = pa.table({"day": days, "at": [dt.time(i % 24) for i in range(60)], "for": [dt.timedelta(minutes=i) for i in range(60)]})
    model = GradientBoostingRegressor(n_estimators=20, early_stopping=False).fit(X, np.arange(60.0))
    model.save(tmp_path / "m.ww")
    with served({"m": tmp_path / "m.ww"}) as client:
        found = client.post("/predict", json={"day": "2026-02-01", "at": "07:00:00", "for": 1860}).json()
        assert found["prediction"] == model.predict(X.slice(31, 1))[0]
        for field, value in [
            ("day", "soon"),
            ("day", "2026-02-01T00:00:00+01:00"),
            ("at", "25:00"),
            ("for", "1 day"),
            ("for", 1e300),
            ("day", 3),
        ]:
            answer = client.post("/predict", json={"day": "2026-02-01", "at": "07:00", "for": 1, field: value})
            assert answer.status_code == 400
            assert f"column {field!r}" in answer.json()["error"]


def test_ensembles_of_other_estimators_take_rows_by_name(tmp_path):
    from woodwind import VotingClassifier

    X = table()
    model = VotingClassifier([("one", classifier()), ("two", classifier())]).fit(X, np.array(["no", "yes"])[np.arange(120) % 2])
    model.save(tmp_path / "m.ww")
    with served({"m": tmp_path / "m.ww"}) as client:
        found = client.post("/predict", json=ROW).json()
        row = table(1).from_pylist([ROW], schema=table(1).schema)
        assert list(found["probabilities"].values()) == pytest.approx(model.predict_proba(row)[0].tolist())
        assert client.post("/predict", json={**ROW, "age": "old"}).status_code == 400


def test_what_predicts_nothing_is_refused(tmp_path):
    from woodwind.base.errors import ModelFileError
    from woodwind.serve.served_models import load

    store.save(tmp_path / "m.ww", table().column_names)
    with pytest.raises(ModelFileError, match="predicts nothing"):
        load("m", tmp_path / "m.ww")
