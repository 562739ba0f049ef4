"""The Open Inference Protocol: what KServe's clients ask and get."""

import numpy as np
import pytest

from tests.serve.conftest import blend, classifier, served, table
from woodwind import GradientBoostingRegressor

INFER = "/v2/models/estimator/infer"


def tensors(n=4):
    X = table(n).to_pydict()
    kinds = {"age": "FP64", "plan": "BYTES", "paid": "INT64"}
    return [{"name": name, "shape": [n], "datatype": kinds[name], "data": values} for name, values in X.items()]


def outputs(answer):
    assert answer.status_code == 200, answer.text
    return {one["name"]: one for one in answer.json()["outputs"]}


def test_metadata_of_server_and_model(client):
    assert client.get("/v2").json()["name"] == "woodwind"
    found = client.get("/v2/models/binary").json()
    assert found["inputs"] == [
        {"name": "age", "datatype": "FP64", "shape": [-1]},
        {"name": "plan", "datatype": "BYTES", "shape": [-1]},
        {"name": "paid", "datatype": "FP64", "shape": [-1]},
    ]
    assert [(one["name"], one["datatype"]) for one in found["outputs"]] == [("prediction", "BYTES"), ("probabilities", "FP64")]
    (version,) = found["versions"]
    assert client.get(f"/v2/models/binary/versions/{version}").json() == found
    assert client.get("/v2/models/binary/versions/other").status_code == 404


def test_health(client):
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"ready": True}
    assert client.get("/v2/models/binary/ready").json() == {"name": "binary", "ready": True}
    assert client.get("/v2/models/other/ready").status_code == 404
    client.service.ending = True
    assert client.get("/v2/health/ready").status_code == 503
    assert client.get("/v2/health/live").status_code == 200


def test_tensors_by_column_give_what_the_model_predicts(client):
    answer = client.post(INFER, json={"id": "42", "inputs": tensors()})
    found, model = outputs(answer), classifier()
    assert (answer.json()["model_name"], answer.json()["id"]) == ("estimator", "42")
    assert found["prediction"]["data"] == model.predict(table(4)).tolist()
    assert found["probabilities"]["shape"] == [4, 2]
    assert found["probabilities"]["data"] == model.predict_proba(table(4)).ravel().tolist()
    version = answer.json()["model_version"]
    assert client.post(f"/v2/models/estimator/versions/{version}/infer", json={"inputs": tensors()}).json()["outputs"] == list(
        found.values()
    )


def test_columns_of_one_value_may_have_two_axes(client):
    two = [{**one, "shape": [4, 1], "data": [[value] for value in one["data"]]} for one in tensors()]
    assert outputs(client.post(INFER, json={"inputs": two})) == outputs(client.post(INFER, json={"inputs": tensors()}))


def test_a_matrix_of_numbers_goes_by_the_order_of_columns(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3)).round(3)
    model = GradientBoostingRegressor(n_estimators=5, early_stopping=False).fit(X, X[:, 0])
    model.save(tmp_path / "m.ww")
    with served({"m": tmp_path / "m.ww"}) as client:
        flat = {"name": "input-0", "shape": [5, 3], "datatype": "FP64", "data": X[:5].ravel().tolist()}
        nested = {**flat, "data": X[:5].tolist()}
        for one in (flat, nested):
            assert outputs(client.post("/v2/models/m/infer", json={"inputs": [one]}))["prediction"]["data"] == model.predict(X[:5]).tolist()
        wrong = client.post("/v2/models/m/infer", json={"inputs": [{**flat, "shape": [3, 5]}]})
        assert "the field shape of input 'input-0' must be [rows, 3]" in wrong.json()["error"]


def test_explanations_and_intervals_are_parameters(client):
    asked = {"inputs": tensors(), "parameters": {"explain": True, "interval": 0.8}}
    found = outputs(client.post("/v2/models/regression/infer", json=asked))
    assert found["contributions"]["shape"] == [4, 3, 1]
    total = np.reshape(found["contributions"]["data"], (4, 3)).sum(axis=1) + found["base"]["data"]
    np.testing.assert_allclose(total, found["prediction"]["data"], rtol=1e-12)
    low, high = blend("regression").intervals.bounds(np.array(found["prediction"]["data"]), 0.8)
    assert (found["lower"]["data"], found["upper"]["data"]) == (low.tolist(), high.tolist())


def test_outputs_can_be_chosen(client):
    assert list(outputs(client.post(INFER, json={"inputs": tensors(), "outputs": [{"name": "prediction"}]}))) == ["prediction"]
    wrong = client.post(INFER, json={"inputs": tensors(), "outputs": [{"name": "lower"}]})
    assert "only with the parameter interval" in wrong.json()["error"]


def changed(**changes):
    return {"inputs": [{**one, **changes} if one["name"] == "paid" else one for one in tensors()]}


REFUSED = [
    ({}, "the field inputs must be a list of tensors"),
    ([], "the body must be an object with inputs"),
    ({"inputs": []}, "the field inputs must be a list of tensors, but it is empty"),
    ({"inputs": [3]}, "input 0 must be an object"),
    ({"inputs": [{"name": 3}]}, "the field name of input 0"),
    ({"inputs": tensors()[:2]}, "there is no value for column 'paid' among the inputs"),
    ({"inputs": [*tensors(), {**tensors()[0], "name": "other"}]}, "there is no column 'other' among the inputs"),
    ({"inputs": [*tensors(), tensors()[0]]}, "the input 'age' comes twice"),
    (changed(shape=[3]), "the field data of input 'paid' has 4 values, and its shape [3] asks for 3"),
    (changed(shape=[-4]), "the field shape of input 'paid'"),
    (changed(shape="4"), "the field shape of input 'paid'"),
    (changed(shape=[True]), "the field shape of input 'paid'"),
    (changed(shape=[2, 2], data=[1, 2, 3, 4]), "the field shape of input 'paid' must be [rows] or [rows, 1]"),
    (changed(shape=[2], data=[1, 2]), "input 'paid' has 2 rows, and input 'age' has 4"),
    (changed(datatype="FLOAT"), "the field datatype of input 'paid' must be one of BOOL"),
    (changed(datatype="INT8", data=[1, 2, 3, 300]), "the field data of input 'paid' must hold INT8, but it has the number 300"),
    (changed(datatype="UINT8", data=[1, 2, 3, -1]), "must hold UINT8"),
    (changed(datatype="FP32", data=[1, 2, 3, 1e39]), "must hold FP32"),
    (changed(datatype="BOOL"), "must hold BOOL"),
    (changed(datatype="BYTES"), "must hold BYTES"),
    (changed(datatype="BYTES", data=["1", "2", "3", "4"]), "column 'paid' takes a number without quotes"),
    (changed(data=[1, 2, 3, [4]]), "must hold INT64, but it has a list"),
    (changed(data=None), "the field data of input 'paid' must be a list"),
    (changed(parameters={"binary_data_size": 8}), "binary_data_size of input 'paid' is not supported"),
    (changed(colour=1), "has a field 'colour' that is not known"),
    ({"inputs": tensors(), "id": 3}, "the field id must be text"),
    ({"inputs": tensors(), "parameters": 3}, "the field parameters must be an object"),
    ({"inputs": tensors(), "parameters": {"explain": "x"}}, "the field explain must be true or false"),
    ({"inputs": tensors(), "outputs": [{"name": "weather"}]}, "the field outputs must name some of"),
    ({"inputs": [{**one, "shape": [0], "data": []} for one in tensors()]}, "there are no rows"),
]


@pytest.mark.parametrize(("body", "words"), REFUSED, ids=[words[:50] for _, words in REFUSED])
def test_what_is_wrong_is_told_in_a_sentence_that_names_the_field(client, body, words):
    answer = client.post(INFER, json=body)
    assert answer.status_code == 400, answer.text
    assert words in answer.json()["error"]


def test_a_null_is_a_missing_value(client):
    asked = [{**one, "data": [None] * 4} for one in tensors()]
    assert outputs(client.post(INFER, json={"inputs": asked}))["prediction"]["shape"] == [4]
