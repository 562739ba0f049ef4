"""The model of the main job: saved as an estimator, opened as one, or as the model alone without scikit-learn."""

import importlib
import inspect
import json
import math
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import woodwind
from reference.model_files import OpenFile
from woodwind import ModelFileError, auto, store
from woodwind.auto.leaderboard import Leaderboard
from woodwind.auto.members.tree_members import CompactForestMember, ForestMember, MeanMember
from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import Entry
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.estimators.auto.auto_ensemble import AutoEnsembleClassifier, AutoEnsembleRegressor
from woodwind.store.kinds import KINDS


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 120
    gaps = np.where(rng.random(n) < 0.2, np.nan, rng.random(n))
    return pd.DataFrame({"number": rng.random(n), "level": rng.choice(["ü", "v", "w"], n), "gaps": gaps})


@pytest.fixture(scope="module", params=["binary", "multiclass", "regression"])
def model(table, request):
    """What the main job would keep, made by hand."""
    task, amount = request.param, table["number"].to_numpy() + (table["level"] == "v")
    cuts = {"binary": [0.7], "multiclass": [0.5, 1.0], "regression": None}[task]
    labels = None if cuts is None else np.array(["no", "yes", "maybe"])[np.digitize(amount, cuts)]
    if labels is None:
        made, boosting, forest = AutoEnsembleRegressor(), woodwind.GradientBoostingRegressor, woodwind.RandomForestRegressor
    else:
        made, boosting, forest = AutoEnsembleClassifier(), woodwind.GradientBoostingClassifier, woodwind.RandomForestClassifier
    y = amount if labels is None else labels
    boosted, grown = boosting(n_estimators=3).fit(table, y), forest(n_estimators=3).fit(table, y)
    width = boosted.forest_.n_outputs
    leaderboard = tuple(Entry(name, "boosting", 0.5, 0.1, 0.5, 0.5, 1.0, math.nan, 5) for name in ("ensemble", "boosted", "forest"))
    made.model_ = AutoModel(
        task=task, target="y", classes=() if labels is None else tuple(boosted.classes_.tolist()), schema=boosted.schema_,
        form=MatrixForm(boosted.schema_, MatrixForm.learn(table).parts), names=("boosted", "mean"),
        members=(ForestMember(boosted.forest_), MeanMember((CompactForestMember(grown.compact_forest_, 2.0, np.zeros(width)),))),
        weights=np.array([0.75, 0.25]), shift=np.zeros(width), metric="log_loss", facts={"leaderboard": [], "shares": {"a": [0.5, None]}},
    )  # fmt: skip
    if labels is not None:
        made.classes_ = boosted.classes_
    made.leaderboard_, made.score_, made.facts_ = Leaderboard(leaderboard), 0.5, made.model_.facts
    made._set_header(boosted.schema_.header)
    return made.set_params(listener=print, checkpoint=Path("folder"), resume=True)


def test_the_estimator_comes_back(model, table, tmp_path):
    one, two = tmp_path / "one.ww", tmp_path / "two.ww"
    model.save(one)
    back = woodwind.load(one)
    back.save(two)
    assert one.read_bytes() == two.read_bytes()
    assert type(back) is type(model)
    assert vars(back).keys() == vars(model).keys()
    assert repr(back.leaderboard_) == repr(model.leaderboard_)
    assert back.facts_ == model.facts_
    assert back.facts_ is back.model_.facts
    assert np.array_equal(back.predict(table), model.predict(table))
    # Who listened is not part of the model, nor is a folder that the next training would write to.
    assert (back.listener, back.checkpoint, back.resume) == (None, None, False)


def test_a_forged_file_chooses_no_folder_for_the_next_training(model, table, tmp_path):
    model.save(tmp_path / "one.ww")
    opened = OpenFile.of((tmp_path / "one.ww").read_bytes())
    (thing,) = (thing for thing in opened.header["things"] if thing["kind"] == type(model).__name__)
    thing["parts"] |= {"checkpoint": str(tmp_path / "thesis"), "resume": True}
    (tmp_path / "one.ww").write_bytes(opened.data())
    back = woodwind.load(tmp_path / "one.ww")
    assert (clone(back).checkpoint, back.get_params()["checkpoint"], back.resume) == (None, None, False)
    assert back.set_params(checkpoint="mine").checkpoint == "mine"


LOADED = """
import json, sys
from woodwind import store
from woodwind.auto.model import AutoModel
store.load(sys.argv[1], expect=AutoModel)
print(json.dumps([name for name in ("sklearn", "joblib", "pandas", "polars", "matplotlib") if name in sys.modules]))
"""


def test_the_model_alone_needs_no_scikit_learn(model, tmp_path):
    path = tmp_path / "one.ww"
    model.save(path)
    assert json.loads(subprocess.check_output([sys.executable, "-c", LOADED, str(path)], timeout=100)) == []


def test_the_model_is_found_alone_too(model, table, tmp_path):
    store.save(tmp_path / "one.ww", model.model_)
    model.save(tmp_path / "two.ww")
    for name in ("one.ww", "two.ww"):
        back = store.load(tmp_path / name, expect=AutoModel)
        assert np.array_equal(back.predict(table), model.model_.predict(table))
    with pytest.raises(ModelFileError, match="holds a AutoModel, not a dict"):
        store.load(tmp_path / "one.ww", expect=dict)


def test_a_part_that_is_not_what_it_should_be_is_refused_alone_too(model, tmp_path):
    path = tmp_path / "one.ww"

    def forged(kind, part, value):
        model.save(path)
        opened = OpenFile.of(path.read_bytes())
        (thing,) = (thing for thing in opened.header["things"] if thing["kind"] == kind)
        thing["parts"][part] = value
        path.write_bytes(opened.data())
        with pytest.raises(ModelFileError):
            store.load(path, expect=AutoModel)

    for place in (0, -1, 10**6, "0"):
        forged(type(model).__name__, "model_", {"thing": place})
    forged("AutoModel", "weights", {"small": ["<f8", [1], "00" * 8]})
    forged("AutoModel", "shift", {"small": ["<f8", [1], "000000000000f87f"]})
    forged("AutoModel", "task", "clustering")
    forged("AutoModel", "members", {"tuple": []})
    forged("AutoModel", "form", {"thing": 0})
    forged("MeanMember", "members", {"tuple": []})
    forged("CompactForestMember", "slope", {"float": "nan"})


def test_every_kind_of_member_can_be_kept():
    found = []
    home = Path(auto.__file__).parent
    for place in home.rglob("*.py"):
        room = importlib.import_module(".".join(["woodwind.auto", *place.relative_to(home).with_suffix("").parts]))
        found += [thing for thing in vars(room).values() if inspect.isclass(thing) and thing.__module__ == room.__name__]
    known = [thing for thing in found if is_dataclass(thing) and callable(getattr(thing, "scores", None))]
    members = [thing for thing in known if "view" in inspect.signature(thing.scores).parameters]
    assert len(members) >= 6
    assert [member.__name__ for member in members if member.__name__ not in KINDS] == []
