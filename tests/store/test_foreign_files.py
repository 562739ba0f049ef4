"""Files of other libraries are read without the library, and damaged ones are refused."""

import contextlib
import json
import random
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import woodwind
from reference.foreign_models import bad_file
from woodwind import ModelFileError
from woodwind.base.city_hash import city_hash
from woodwind.store.imported.contents import Unreadable
from woodwind.store.imported.layout import at_most_as_float32, below_float32, rounding_to_float32
from woodwind.store.imported.ubjson import parsed_ubjson

FOLDER = Path(__file__).parent / "foreign"
ANSWERS = json.loads((FOLDER / "answers.json").read_text())
ROWS = pd.DataFrame(ANSWERS["rows"])
FILES = {
    "xgboost.json": woodwind.from_xgboost, "xgboost.ubj": woodwind.from_xgboost, "lightgbm.txt": woodwind.from_lightgbm,
    "catboost.json": woodwind.from_catboost,
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_predicts_what_its_library_predicted(name):
    model = FILES[name](FOLDER / name)
    expected = np.array(ANSWERS[name.split(".")[0]])
    if name == "catboost.json":  # its scores are in the order of the labels, which is another one there
        assert model.classes_.tolist() == ["high", "low", "medium"]
    assert np.abs(model.predict_proba(ROWS) - expected).max() < 2e-7
    assert np.array_equal(FILES[name]((FOLDER / name).read_bytes()).predict_proba(ROWS), model.predict_proba(ROWS))


@pytest.mark.parametrize("name", FILES)
def test_fewer_rounds_can_be_taken(name):
    whole, one = FILES[name](FOLDER / name), FILES[name](FOLDER / name, n_rounds=1)
    assert (whole.n_iter_, one.n_iter_) == (2, 1)
    assert np.array_equal(one.predict_proba(ROWS), whole.predict_proba(ROWS, n_rounds=1))
    with pytest.raises(ModelFileError, match="it has 2"):
        FILES[name](FOLDER / name, n_rounds=3)


@pytest.mark.parametrize("name", FILES)
def test_categories_never_seen_and_gaps_are_predicted_for(name):
    odd = ROWS.assign(colour=["violet"] * len(ROWS), size=np.nan)
    predicted = FILES[name](FOLDER / name).predict_proba(odd)
    assert np.allclose(predicted.sum(axis=1), 1.0)


def test_what_goes_where_is_the_rule_of_the_library_not_ours():
    model = woodwind.from_xgboost(FOLDER / "xgboost.json")
    assert not (model.forest_.missing == 2).any()  # nothing stops at a node
    names = model.schema_.categories[2]
    assert names == ("blue", "green", "red", "(other categories)")


# ---------------------------------------------------------------------------------------------------------------- refusals


def changed(name, change):
    whole = json.loads((FOLDER / name).read_text())
    change(whole)
    return json.dumps(whole).encode()


SETS = ("categories_nodes", "categories_segments", "categories_sizes")


def first_of(whole):
    return whole["oblivious_trees"][0]


def first_tree(whole):
    return whole["learner"]["gradient_booster"]["model"]["trees"][0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tree: tree["left_children"].__setitem__(0, 99), "outside of its tree"),
        (lambda tree: tree["left_children"].__setitem__(0, 0), "two parents"),
        (lambda tree: tree["left_children"].__setitem__(0, 2), "two parents"),
        (lambda tree: tree["split_indices"].__setitem__(0, 3), "column that there is not"),
        (lambda tree: tree["split_indices"].__setitem__(0, -1), "column that there is not"),
        (lambda tree: tree["split_conditions"].__setitem__(0, 1e60), "not finite"),
        (lambda tree: tree["sum_hessian"].__setitem__(0, -1.0), "cover"),
        (lambda tree: tree["sum_hessian"].pop(), "where there should be"),
        (lambda tree: tree.__setitem__("categories_nodes", [999]), "where there should be"),
        (lambda tree: tree.update(categories_nodes=[999], categories_segments=[0], categories_sizes=[0]), "of no node"),
        (lambda tree: tree.update(categories_nodes=[0], categories_segments=[0], categories_sizes=[1 << 60]), "are not there"),
        (lambda tree: tree.update({key: [0] for key in SETS} | {"categories_sizes": [1], "categories": [1 << 40]}), "number of one"),
        (lambda tree: tree["tree_param"].__setitem__("size_leaf_vector", "5"), "other scores"),
        (lambda tree: tree["base_weights"].clear() or tree.__setitem__("left_children", "1"), "no list"),
    ],
)  # fmt: skip
def test_a_lying_tree_is_refused(change, words):
    with pytest.raises(ModelFileError, match=words):
        woodwind.from_xgboost(changed("xgboost.json", lambda whole: change(first_tree(whole))))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("xgboost.json", lambda whole: whole["learner"]["gradient_booster"].__setitem__("name", "gblinear"), "'gbtree' and 'dart'"),
        ("xgboost.json", lambda whole: whole["learner"]["learner_model_param"].__setitem__("num_feature", "2000000000"), "num_feature"),
        ("xgboost.json", lambda whole: whole["learner"]["learner_model_param"].__setitem__("num_class", "60000"), "more scores than trees"),
        ("xgboost.json", lambda whole: whole["learner"]["learner_model_param"].__setitem__("base_score", "x"), "base_score"),
        ("xgboost.json", lambda whole: whole["learner"]["objective"].__setitem__("name", "survival:cox"), "objective"),
        ("catboost.json", lambda whole: first_of(whole)["splits"][0].__setitem__("split_type", "OnlineCtr"), "one_hot_max_size"),
        ("catboost.json", lambda whole: first_of(whole).__setitem__("splits", first_of(whole)["splits"] * 20), "deeper"),
        ("catboost.json", lambda whole: first_of(whole)["leaf_values"].pop(), "one value for each leaf"),
        ("catboost.json", lambda whole: whole["features_info"].__setitem__("text_features", [{}]), "text"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(name, change, words):
    with pytest.raises(ModelFileError, match=words) as caught:
        FILES[name](changed(name, change))
    assert "cannot be read" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("left_child=", "left_child=70 ", "where there should be"),
        ("objective=multiclass num_class:3", "objective=multiclassova num_class:3 sigmoid:1", "multiclassova"),
        ("num_leaves=4", "num_leaves=2000000000", "more leaves than values"),
        ("max_feature_idx=2", "max_feature_idx=1000", "one name each"),
        ("num_tree_per_iteration=3", "num_tree_per_iteration=5", "last round"),
        ("end of trees", "the end", "end of trees"),
        ("cat_threshold=", "cat_threshold=9 ", "set of categories"),
    ],
)  # fmt: skip
def test_a_lying_text_file_is_refused(old, new, words):
    text = (FOLDER / "lightgbm.txt").read_text()
    assert old in text
    with pytest.raises(ModelFileError, match=words):
        woodwind.from_lightgbm(text.replace(old, new, 1).encode())


def test_a_file_that_is_not_there_or_of_another_kind_is_refused(tmp_path):
    for read in FILES.values():
        with pytest.raises(ModelFileError, match="cannot be read"):
            read(tmp_path / "none.json")
        for contents in (b"", b"{}", b"[]", b"\x00" * 40, b"[" * 100_000, b"tree\n\nend of trees\n", b"{L" + b"\xff" * 8):
            with pytest.raises(ModelFileError):
                read(contents)
        with pytest.raises(woodwind.ParameterError):
            read(3.5)
        with pytest.raises(woodwind.ParameterError, match="n_rounds"):
            read(b"{}", n_rounds=-1)


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_refused_or_predict_finite_numbers(name):
    data, draw = (FOLDER / name).read_bytes(), random.Random(0)
    outcomes, longest = {"opened": 0, "refused": 0}, 0
    for _ in range(300):
        try:
            model = FILES[name](bad_file(data, draw))
        except ModelFileError as error:
            outcomes["refused"] += 1
            longest = max(longest, len(str(error)))
            continue
        outcomes["opened"] += 1
        if model.n_features_in_ < 100:
            names = [field.name for field in model.schema_.fields]
            rows = pd.DataFrame(
                {name: ["0.5", "red", "1"] if model.schema_.categories[k] else [0.5, -1e9, np.nan] for k, name in enumerate(names)}
            )
            with contextlib.suppress(woodwind.DataError):  # what is predicted is a finite number, or refused
                assert np.isfinite(model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows)).all()
    assert outcomes["refused"] > 100
    assert longest < 2000


# ----------------------------------------------------------------------------------------------------------------- readers


def ubj(text):
    return struct.pack(">bq", ord("L"), len(text)).replace(b"\x4c", b"L", 1) + text.encode()


def test_ubjson_reads_what_the_format_has():
    data = (
        b"{"
        + ubj("a")
        + b"[#i\x02TZ"
        + ubj("b")
        + b"[$d#i\x02"
        + struct.pack(">2f", 0.5, -1.0)
        + ubj("c")
        + b"[i\x01NS"
        + b"i\x01x]"
        + b"}"
    )
    found = parsed_ubjson(data)
    assert (found["a"], found["b"].tolist(), found["c"]) == ([True, None], [0.5, -1.0], [1, "x"])
    assert parsed_ubjson(b"{#i\x01i\x01xD" + struct.pack(">d", 0.1) + b"") == {"x": 0.1}


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{",
        b"[#L\x7f" + b"\xff" * 7, b"[$d#L" + struct.pack(">q", 1 << 40), b"[$Z#L" + struct.pack(">q", 1 << 40), b"[#i\xff", b"SL\xff",
        b"[" * 1000, b"Q", b"{i\x01aTi\x01aT}", b"T T", b"[$d", b"Si\x01\xff",
    ],
)  # fmt: skip
def test_ubjson_that_lies_is_refused(data):
    with pytest.raises((Unreadable, UnicodeDecodeError)):
        parsed_ubjson(data)


def test_thresholds_of_32_bits_divide_doubles_as_32_bits_do():
    draw = np.random.default_rng(0)
    largest = np.finfo(np.float32).max
    t = np.concatenate([draw.normal(size=500), 10.0 ** draw.uniform(-45, 38, 500), [0.0, 1e-45, -1e-45, largest, -largest, 1.0]]).astype(
        np.float32
    )
    with np.errstate(over="ignore"):
        beside = (t, np.nextafter(t, np.float32(np.inf)), np.nextafter(t, np.float32(-np.inf)))
    for around in beside:
        middle = 0.5 * t.astype(np.float64) + 0.5 * np.clip(around.astype(np.float64), -(2.0**128), 2.0**128)
        for x in (middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), t.astype(np.float64), middle * 1.5):
            with np.errstate(over="ignore"):
                as_32 = x.astype(np.float32)
            assert np.array_equal(x <= below_float32(t), as_32 < t)
            wide = t.astype(np.float64) * (1.0 + 1e-12)
            assert np.array_equal(x <= at_most_as_float32(wide), as_32 <= wide)
    for value in (0.0, -999.0, 0.1):
        low, high = rounding_to_float32(value)
        assert np.float32(low) == np.float32(high) == np.float32(value)
        assert np.float32(np.nextafter(low, -np.inf)) != np.float32(value) != np.float32(np.nextafter(high, np.inf))


def test_hashes_of_categories_are_those_of_catboost():
    # From models of CatBoost 1.2.10, for texts of all lengths that the hash treats differently.
    assert city_hash("u") in (-784473192, 1981898051) or city_hash("v") in (-784473192, 1981898051)
    whole = json.loads((FOLDER / "catboost.json").read_text())
    known = set(whole["features_info"]["categorical_features"][0]["values"])
    assert known
    assert known <= {city_hash(text) for text in ("red", "green", "blue")}
