"""Every estimator comes back from its file as it was: class, parameters, what it learned, and predictions bit for bit."""

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor as TheirTree
from sklearn.utils import get_tags

import woodwind
from reference.model_files import OpenFile, save_unproved
from woodwind import ModelFileError, ParameterError
from woodwind.base.errors import NotStorableError
from woodwind.data.reading.files import read_table
from woodwind.estimators.base.matrix import TableToMatrix
from woodwind.estimators.persistence.consistency import CHECKS as CONSISTENCY
from woodwind.estimators.persistence.persistence import optional_state_of, state_of
from woodwind.store.kinds import KINDS, kind_of

PLACE = Path(__file__).parent.parent / "estimators" / "test_common_checks.py"


def common_checks():
    """The estimators that scikit-learn's checks are run on, in their small settings."""
    spec = importlib.util.spec_from_file_location("common_checks", PLACE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKS = common_checks()
CLASSIFIERS, REGRESSORS = CHECKS.CLASSIFIERS, CHECKS.REGRESSORS
PUBLIC = [getattr(woodwind, name) for name in woodwind.__all__]
PUBLIC = [found for found in PUBLIC if inspect.isclass(found) and issubclass(found, BaseEstimator)]
PLAIN = make_pipeline(TableToMatrix(), LogisticRegression())
# Other things that training may keep.
MORE = [
    woodwind.GradientBoostingClassifier(warm_start=True),
    woodwind.GradientBoostingRegressor(warm_start=True, max_bins=None),
    woodwind.GradientBoostingRegressor(loss="quantile", init=make_pipeline(TableToMatrix(), Ridge())),
    woodwind.RandomForestRegressor(warm_start=True, oob_score=True, random_state=np.random.RandomState(3)),
    woodwind.BaggingClassifier(warm_start=True, oob_score=True),
    woodwind.AdaBoostClassifier(multiclass="second_level"),
    woodwind.AdditiveClassifier(subsample=0.5),
    woodwind.StackingClassifier(estimators=CLASSIFIERS, cv=StratifiedKFold(3), oof_score=True, passthrough=True),
    woodwind.StackingRegressor(estimators=REGRESSORS, cv=KFold(3, shuffle=True, random_state=1), final_estimator=Ridge()),
    woodwind.VotingRegressor(estimators=REGRESSORS, weights="optimal"),
    woodwind.EnsembleSelectionRegressor(estimators=REGRESSORS, cv=TimeSeriesSplit(3)),
    woodwind.DynamicSelectionClassifier(CLASSIFIERS, method="des_clustering", method_options={"pct_diversity": 0.5, "pct_accuracy": 1.0}),
    woodwind.DynamicSelectionClassifier(estimators=CLASSIFIERS, method="meta_des", method_options={"meta_classifier": GaussianNB()}),
    woodwind.DynamicSelectionClassifier(estimators=CLASSIFIERS, method="confidence"),
    woodwind.DynamicSelectionClassifier(estimators=CLASSIFIERS, method="knora_u", search="fast"),
    woodwind.DynamicSelectionClassifier(estimators=CLASSIFIERS, method="knop", knne=True),
    woodwind.DynamicSelectionClassifier([("tree", woodwind.DecisionTreeClassifier()), ("linear", PLAIN)], method="knora_e"),
    woodwind.MixtureOfExpertsRegressor(n_init=1, max_iter=3, experts=[LinearRegression(), Ridge()], gate=LogisticRegression()),
]
MODELS = [CHECKS.SMALL.get(found.__name__) or found() for found in PUBLIC] + CHECKS.VARIANTS + MORE


def small(model):
    """A copy that is trained in no time."""
    model = clone(model)
    return model.set_params(n_estimators=min(4, model.n_estimators)) if isinstance(getattr(model, "n_estimators", None), int) else model


def made_table():
    rng = np.random.default_rng(0)
    n = 60
    table = pd.DataFrame(
        {
            "number": rng.random(n),
            "other": rng.random(n),
            "level": rng.choice(["ü", "v", "w"], n),
            "when": pd.date_range("2020-01-01", periods=n, freq="37h"),
        }
    )
    return table, table["number"].to_numpy() + (table["level"] == "v") + 0.1 * rng.random(n)


TABLE, TARGET = made_table()
NUMBERS = TABLE[["number", "other"]].to_numpy()
LABELS = np.array(["no", "yes", "maybe"])[np.digitize(TARGET, [0.5, 1.0])]


def fitted(model):
    """The model trained on as much of the table as it takes, and what it was trained on."""
    model = small(model)
    many = LABELS if is_classifier(model) else TARGET
    if is_classifier(model) and not get_tags(model).classifier_tags.multi_class:
        many = LABELS == "no"
    X = TABLE if get_tags(model).input_tags.string else NUMBERS
    return model.fit(X, many), X


def answers(model, X):
    """Everything that the model predicts for a table."""
    names = ["predict", "predict_proba", "predict_log_proba", "decision_function", "transform"]
    names += ["apply"] if getattr(model, "forest_", None) is not None else []
    return {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


def spelt(model):
    """The parameters in words, without the positions of things in memory."""
    return re.sub(r"0x[0-9A-Fa-f]+", "", repr(model))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_an_estimator_comes_back_as_it_was(model, tmp_path):
    model, X = fitted(model)
    one, two = tmp_path / "one.ww", tmp_path / "two.ww"
    before = answers(model, X)
    model.save(one)
    back = woodwind.load(one)
    back.save(two)
    assert one.read_bytes() == two.read_bytes()
    assert type(back) is type(model)
    assert vars(back).keys() == vars(model).keys()
    assert spelt(back) == spelt(model)
    after = answers(back, X)
    assert after.keys() == before.keys()
    for name, predicted in before.items():
        assert np.array_equal(after[name], predicted), name
        assert np.asarray(after[name]).dtype == np.asarray(predicted).dtype
    # Asking changes nothing.
    back.save(two)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("model", MODELS[: len(PUBLIC)], ids=lambda model: type(model).__name__)
def test_an_estimator_that_is_not_fitted_comes_back_too(model, tmp_path):
    model.save(tmp_path / "one.ww")
    back = woodwind.load(tmp_path / "one.ww")
    assert repr(back) == repr(model)
    assert vars(back).keys() == vars(model).keys()


def test_the_state_that_is_declared_is_set_somewhere():
    room = Path(woodwind.__file__).parent / "estimators"
    text = "".join(path.read_text(encoding="utf-8") for path in room.rglob("*.py"))
    made = {f"estimator_{name}_" for name in ("errors", "weights", "edges")}
    declared = {name for model in MODELS for name in state_of(type(model)) | optional_state_of(type(model))}
    assert [name for name in declared - made if f"self.{name}" not in text and text.count(f'"{name}"') < 2] == []


@pytest.mark.parametrize("model", MODELS[: len(PUBLIC)], ids=lambda model: type(model).__name__)
def test_an_estimator_declares_each_part_of_its_state_once(model):
    declared = [name for cls in type(model).__mro__ for table in ("_state", "_optional_state") for name in vars(cls).get(table, {})]
    assert len(declared) == len(set(declared)) > 0


def test_training_goes_on_after_loading(tmp_path):
    for model in (woodwind.GradientBoostingClassifier(random_state=0), woodwind.RandomForestClassifier(random_state=0)):
        straight = clone(model).set_params(n_estimators=8, warm_start=True)
        broken = clone(model).set_params(n_estimators=4, warm_start=True).fit(TABLE, LABELS)
        broken.save(tmp_path / "one.ww")
        broken = woodwind.load(tmp_path / "one.ww").set_params(n_estimators=8).fit(TABLE, LABELS)
        straight.set_params(n_estimators=4).fit(TABLE, LABELS).set_params(n_estimators=8).fit(TABLE, LABELS)
        assert np.array_equal(straight.predict_proba(TABLE), broken.predict_proba(TABLE))


@pytest.mark.parametrize(
    "labels",
    [
        np.where(TARGET > 1, 2**40, -5),
        np.where(TARGET > 1, 1.0, 0.0),
        TARGET > 1,
        np.where(TARGET > 1, "später", ""),
        np.where(TARGET > 1, "b", "a").astype(object),
        np.where(TARGET > 1, "b", "a").astype(np.dtypes.StringDType()),
        np.where(TARGET > 1, np.int8(3), np.int8(-3)),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_come_back_in_their_type(labels, tmp_path):
    model = woodwind.GradientBoostingClassifier(n_estimators=2).fit(TABLE, labels)
    model.save(tmp_path / "one.ww")
    back = woodwind.load(tmp_path / "one.ww")
    assert back.classes_.dtype == model.classes_.dtype
    assert back.classes_.tolist() == model.classes_.tolist()
    assert back.predict(TABLE).tolist() == model.predict(TABLE).tolist()


def test_a_loaded_model_says_the_same_of_a_table_in_whatever_form_it_comes(tmp_path):
    model = woodwind.GradientBoostingClassifier(n_estimators=4).fit(TABLE, LABELS)
    model.save(tmp_path / "one.ww")
    back, arrow = woodwind.load(tmp_path / "one.ww"), pa.Table.from_pandas(TABLE)
    TABLE.to_parquet(tmp_path / "table.parquet")
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    files = [read_table(tmp_path / name) for name in ("table.parquet", "table.csv")]
    for form in (arrow, pl.from_arrow(arrow), TABLE[TABLE.columns[::-1]], *files):
        assert np.array_equal(back.predict_proba(form), model.predict_proba(TABLE))


# What cannot be kept.


class OwnLoss:
    def start(self, y, weight):
        return np.mean(y)

    def derivatives(self, y, raw, weight):
        return raw - y, np.ones_like(raw)

    def value(self, y, raw, weight):
        return float(np.mean((raw - y) ** 2) / 2)


class Derived(woodwind.DecisionTreeClassifier):
    pass


def refusal(model, path):
    with pytest.raises(NotStorableError) as caught:
        model.save(path)
    assert not path.exists()
    predicted = str(caught.value)
    assert "\n" not in predicted
    assert "allow_pickle=True" in predicted
    return predicted


def test_members_that_cannot_be_kept_are_named(tmp_path):
    members = [("linear", LogisticRegression()), ("machine", SVC())]
    model = woodwind.VotingClassifier(estimators=members, voting="hard").fit(NUMBERS, LABELS)
    predicted = refusal(model, tmp_path / "one.ww")
    assert predicted.startswith("VotingClassifier.estimators['machine'] is a SVC of sklearn.svm._classes, which a model file cannot hold.")
    assert "save('one.wwpickle', allow_pickle=True)" in predicted


@pytest.mark.parametrize(
    ("model", "predicted"),
    [
        (woodwind.GradientBoostingRegressor(loss=OwnLoss(), n_estimators=2), "GradientBoostingRegressor.loss is a OwnLoss"),
        (woodwind.GradientBoostingRegressor(callbacks=[lambda _: None], n_estimators=2), "callbacks[0] is the function '<lambda>'"),
        (woodwind.GradientBoostingRegressor(scoring=lambda *_: 0.0, n_estimators=2), "scoring is the function '<lambda>'"),
        (woodwind.DynamicSelectionRegressor(REGRESSORS, method=lambda facts, region: np.ones((len(region), 2))), "method is the function"),
        (Derived(), "is a Derived of"),
        (woodwind.VotingRegressor([("near", make_pipeline(TableToMatrix(), SVC()))]), "steps"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_code_cannot_be_kept(model, predicted, tmp_path):
    assert predicted in refusal(model, tmp_path / "one.ww")


def test_the_folder_of_a_pipeline_is_neither_kept_nor_restored(tmp_path):
    """Training would write to it, and unpickle what it finds there: whoever made the file would choose what is run."""
    path = tmp_path / "one.ww"
    pipeline = make_pipeline(TableToMatrix(), Ridge(), memory=str(tmp_path / "theirs"))
    woodwind.VotingRegressor([("one", pipeline)]).save(path)
    assert woodwind.load(path).estimators[0][1].memory is None
    opened = OpenFile.of(path.read_bytes())
    (thing,) = (thing for thing in opened.header["things"] if thing["kind"] == "sklearn.Pipeline")
    assert thing["parts"]["parameters"]["dict"]["memory"] is None
    thing["parts"]["parameters"]["dict"]["memory"] = str(tmp_path / "theirs")
    path.write_bytes(opened.data())
    woodwind.load(path).fit(NUMBERS, TARGET)
    assert not (tmp_path / "theirs").exists()


def test_what_somebody_hung_on_a_model_is_not_lost_in_silence(tmp_path):
    model = woodwind.DecisionTreeRegressor().fit(NUMBERS, TARGET)
    model.note_ = "mine"
    assert "has the attribute 'note_'" in refusal(model, tmp_path / "one.ww")


def test_parameters_that_became_wrong_after_training_are_told_when_saving(tmp_path):
    model = woodwind.DecisionTreeRegressor().fit(NUMBERS, TARGET).set_params(max_depth=-3)
    with pytest.raises(ParameterError, match="max_depth"):
        model.save(tmp_path / "one.ww")


@pytest.mark.parametrize("name", ["one.onnx", "one.pkl", "one.joblib", "one.json", "one.txt", "one.HTML", "one.parquet", "one.ww.gz"])
def test_a_name_that_means_something_else_is_refused(tmp_path, name):
    model = woodwind.DecisionTreeClassifier().fit(NUMBERS, LABELS)
    with pytest.raises(ParameterError, match=r"the ending of .* and a model file would be written\. Let it end in \.ww\."):
        model.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    for fine in ("one.ww", "one", "one.model", "v1.2"):
        model.save(tmp_path / fine)
        assert np.array_equal(woodwind.load(tmp_path / fine).predict(NUMBERS), model.predict(NUMBERS))


# Pickles, where somebody asks for them.


def test_a_pickle_has_another_name_and_must_be_asked_for_twice(tmp_path):
    model = woodwind.VotingClassifier(estimators=[("machine", SVC())], voting="hard").fit(NUMBERS, LABELS)
    path = tmp_path / "one.wwpickle"
    with pytest.raises(ParameterError, match="only with allow_pickle=True"):
        model.save(path)
    with pytest.raises(ParameterError, match=r"end in \.wwpickle with allow_pickle=True"):
        model.save(tmp_path / "one.ww", allow_pickle=True)
    model.save(path, allow_pickle=True)
    with pytest.raises(ModelFileError, match="can run any code"):
        woodwind.load(path)
    assert np.array_equal(woodwind.load(path, allow_pickle=True).predict(NUMBERS), model.predict(NUMBERS))


def test_a_pickle_is_never_read_under_another_name(tmp_path):
    model = woodwind.DecisionTreeClassifier().fit(NUMBERS, LABELS)
    model.save(tmp_path / "one.wwpickle", allow_pickle=True)
    (tmp_path / "one.wwpickle").rename(tmp_path / "one.ww")
    with pytest.raises(ModelFileError, match="not a Woodwind model file"):
        woodwind.load(tmp_path / "one.ww", allow_pickle=True)
    model.save(tmp_path / "two.ww")
    assert woodwind.load(tmp_path / "two.ww", allow_pickle=True).get_params() == model.get_params()


def test_damaged_pickles_are_refused(tmp_path):
    path = tmp_path / "one.wwpickle"
    woodwind.DecisionTreeClassifier().fit(NUMBERS, LABELS).save(path, allow_pickle=True)
    data = path.read_bytes()
    for damaged in (b"", data[:30], data[:-1], data[:-1] + b"x", b"x" + data[1:]):
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            woodwind.load(path, allow_pickle=True)


# Nothing but the file is opened, and nothing is run.

AUDIT = """
import json, sys
import numpy as np
import woodwind
path, again = sys.argv[1:]
woodwind.load(path)  # whatever is to be imported is imported now
seen = []
watched = ("exec", "compile", "import", "open", "subprocess", "os.", "socket", "pickle", "marshal", "code.", "ctypes", "builtins.input")
sys.addaudithook(lambda event, given: seen.append([event, str(given[0]) if given else ""]) if event.startswith(watched) else None)
woodwind.load(again)
found = list(seen)
import_of_pickling = "woodwind.store.pickled" in sys.modules
print(json.dumps([found, import_of_pickling]))
"""


@pytest.mark.filterwarnings("ignore")
def test_loading_runs_nothing_and_opens_nothing_but_the_file(tmp_path):
    near = make_pipeline(TableToMatrix(), KNeighborsClassifier())
    members = [("boosting", woodwind.GradientBoostingClassifier(n_estimators=3)), ("near", near)]
    model = woodwind.StackingClassifier(estimators=members, cv=2).fit(TABLE, LABELS)
    model.save(tmp_path / "one.ww")
    model.save(tmp_path / "two.ww")
    command = [sys.executable, "-c", AUDIT, str(tmp_path / "one.ww"), str(tmp_path / "two.ww")]
    seen, pickling = json.loads(subprocess.check_output(command, timeout=120))
    # The second time it is opened it is the number that the system has given it.
    assert [name for event, name in seen if event == "open" and not name.isdigit()] == [str(tmp_path / "two.ww")]
    assert [event for event, _ in seen if event != "open"] == []
    assert not pickling


# Files that are forged: sums hold, but something is not as it was.


def things_of(path):
    return OpenFile.of(path.read_bytes())


def test_attributes_that_are_missing_unknown_or_of_another_type_are_refused(tmp_path):
    path = tmp_path / "one.ww"
    model = woodwind.GradientBoostingClassifier(n_estimators=2).fit(TABLE, LABELS)

    def forged(change):
        model.save(path)
        opened = things_of(path)
        change(opened.header["things"][-1]["parts"])
        path.write_bytes(opened.data())
        with pytest.raises(ModelFileError) as caught:
            woodwind.load(path)
        return str(caught.value)

    assert "has no forest_" in forged(lambda parts: parts.pop("forest_")) or "nothing uses" in forged(lambda parts: parts.pop("forest_"))
    assert "should not have: __class__" in forged(lambda parts: parts.__setitem__("__class__", 1))
    assert "should not have: predict" in forged(lambda parts: parts.__setitem__("predict", 1))
    assert "max_depth must be" in forged(lambda parts: parts.__setitem__("max_depth", "deep"))
    assert "n_iter_ of" in forged(lambda parts: parts.__setitem__("n_iter_", 2.5))
    assert "another number of columns" in forged(lambda parts: parts.__setitem__("n_features_in_", 3))
    assert "no classes" in forged(lambda parts: parts.__setitem__("classes_", {"small": ["<i8", [0], ""]}))
    assert "schema_ of" in forged(lambda parts: parts.__setitem__("schema_", None))


def test_a_parameter_that_is_younger_than_the_file_has_its_default(tmp_path):
    woodwind.GradientBoostingClassifier(n_estimators=2, max_depth=3).fit(TABLE, LABELS).save(tmp_path / "one.ww")
    opened = things_of(tmp_path / "one.ww")
    del opened.header["things"][-1]["parts"]["max_depth"]
    (tmp_path / "one.ww").write_bytes(opened.data())
    assert woodwind.load(tmp_path / "one.ww").max_depth == woodwind.GradientBoostingClassifier().max_depth


def test_parts_of_two_models_do_not_fit(tmp_path):
    wide = woodwind.GradientBoostingRegressor(n_estimators=2).fit(TABLE, TARGET)
    narrow = woodwind.GradientBoostingRegressor(n_estimators=2).fit(NUMBERS, TARGET)
    wide.forest_ = narrow.forest_
    with pytest.raises(NotStorableError, match="other features than the schema"):
        wide.save(tmp_path / "one.ww")
    save_unproved(tmp_path / "one.ww", wide)
    with pytest.raises(ModelFileError, match="other features than the schema"):
        woodwind.load(tmp_path / "one.ww")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("left_child", lambda column: column[::-1].copy()),
        ("left_child", lambda column: np.where(column == -1, column, 0)),
        ("right_child", lambda column: column + 1000),
        ("feature", lambda column: np.where(column < 0, column, 99)),
        ("threshold", lambda column: column * np.nan),
        ("values", lambda column: column * np.inf),
        ("values", lambda column: column[:, :, [0, 0]]),
        ("missing_go_to_left", lambda column: column[:-1]),
    ],
)
def test_trees_of_others_that_would_lead_astray_are_refused(part, change, tmp_path, monkeypatch):
    model = woodwind.VotingRegressor([("tree", TheirTree(max_depth=5))]).fit(NUMBERS, TARGET)
    found = importlib.import_module("woodwind.estimators.persistence.sklearn_persistence")
    apart = found.taken_apart
    monkeypatch.setattr(found, "taken_apart", lambda tree: (given := apart(tree)) | {part: change(given[part])})
    save_unproved(tmp_path / "one.ww", model)
    with pytest.raises(ModelFileError, match="is damaged"):
        woodwind.load(tmp_path / "one.ww")


def test_every_public_estimator_has_a_kind():
    for found in PUBLIC:
        assert found.__name__ in KINDS
        assert callable(found.save)
    assert kind_of(Derived()) is None


def test_the_tables_of_the_model_file_name_classes_that_there_are():
    known = {cls.__name__ for model in MODELS for cls in type(model).__mro__} | {"SoftmaxRegression", "TableToMatrix"}
    assert CONSISTENCY.keys() - known == set()
