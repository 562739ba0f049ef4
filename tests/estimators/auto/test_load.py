"""A model is the same in Python, whoever has written it: the command or Python; and it is asked as it was trained."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import woodwind
from woodwind import AutoEnsembleClassifier, AutoEnsembleRegressor, DataError, ModelFileError, store
from woodwind.auto.model import AutoModel
from woodwind.cli.main import call


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    """A folder with a table, a model that the command has written, and the one that Python makes of the same table."""
    folder = tmp_path_factory.mktemp("loans")
    n = np.arange(150)
    frame = pd.DataFrame({"age": 20 + n * 7 % 50, "plan": np.array(list("abc"))[n % 3], "paid": n * 13 % 90, "zip": n % 4})
    frame["late"] = np.where(frame["paid"] + 20 * (frame["plan"] == "b") + n * 29 % 31 > 70, "yes", "no")
    frame.to_csv(folder / "train.csv", index=False)
    frame.drop(columns="late").to_csv(folder / "new.csv", index=False)
    options = ["--models", "1", "--seed", "3", "--quiet", "--no-report", "--threads", "1"]
    for target, name in (("late", "late.ww"), ("paid", "paid.ww")):
        assert call(["fit", str(folder / "train.csv"), "--target", target, "-o", str(folder / name), *options]) == 0
    made = woodwind.fit(folder / "train.csv", "late", models=1, seed=3, threads=1)
    made.save(folder / "python.ww")
    return folder, frame, made


def test_what_the_command_wrote_is_the_estimator_that_python_gives(loans, tmp_path):
    folder, frame, made = loans
    model = woodwind.load(folder / "late.ww")
    assert type(model) is AutoEnsembleClassifier
    assert isinstance(woodwind.load(folder / "paid.ww"), AutoEnsembleRegressor)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.random_state == 3
    assert np.array_equal(model.predict_proba(frame), made.predict_proba(frame))
    assert model.score(frame, frame["late"]) == made.score(frame, frame["late"])
    assert [entry.name for entry in model.leaderboard_] == [entry.name for entry in made.leaderboard_]
    assert (model.score_, model.suspicions_) == (made.score_, made.suspicions_)
    assert model.feature_names_in_.tolist() == made.feature_names_in_.tolist()
    assert np.allclose(model.explain(frame.head(2)).values, made.explain(frame.head(2)).values)
    model.report(tmp_path / "report.html")
    model.save(tmp_path / "again.ww")
    assert np.array_equal(woodwind.load(tmp_path / "again.ww").predict(frame), made.predict(frame))


def test_the_model_alone_is_there_for_those_who_expect_it(loans):
    folder, _, _ = loans
    for name in ("late.ww", "python.ww"):
        assert isinstance(woodwind.load(folder / name, expect=AutoModel), AutoModel)
        assert isinstance(woodwind.load(folder / name, expect=AutoEnsembleClassifier), AutoEnsembleClassifier)
        with pytest.raises(ModelFileError, match="holds a AutoEnsembleClassifier, not a AutoEnsembleRegressor"):
            woodwind.load(folder / name, expect=AutoEnsembleRegressor)


def test_a_leaderboard_that_is_damaged_is_said_to_be(loans, tmp_path):
    folder, _, _ = loans
    model = store.load(folder / "late.ww")
    for wrong in ([1], [{"name": "x"}], [{**model.facts["leaderboard"][0], "score": "good"}]):
        model.facts["leaderboard"] = wrong
        store.save(tmp_path / "wrong.ww", model)
        with pytest.raises(ModelFileError, match="leaderboard of the model is damaged"):
            woodwind.load(tmp_path / "wrong.ww")


def test_a_model_is_asked_about_whatever_it_can_be_taught(loans):
    folder, frame, made = loans
    X = frame.drop(columns="late")
    expected = made.predict_proba(X)
    for asked in (str(folder / "new.csv"), folder / "new.csv", [folder / "new.csv"], X.to_dict("list"), folder / "train.csv"):
        assert np.array_equal(made.predict_proba(asked), expected)
        assert made.predict(asked).tolist() == made.predict(X).tolist()
    assert np.array_equal(made.explain(X.head(3).to_dict("list")).values, made.explain(X.head(3)).values)
    assert len(made.explain(folder / "new.csv")) == len(X)
    with pytest.raises(DataError, match="give lists of equal length"):
        made.predict({"age": 30, "plan": "a"})


def test_a_dictionary_of_cells_is_no_dictionary_of_columns():
    cells = sparse.dok_matrix(np.eye(20, 4))
    model = AutoEnsembleRegressor(models=1, exclude=("boosting", "forest", "neighbours", "net")).fit(cells, np.arange(20.0))
    assert np.array_equal(model.predict(cells), model.predict(cells.tocsr()))
    assert len(model.predict(sparse.dok_matrix((3, 4)))) == 3


def test_types_that_were_written_down_hold_for_whatever_is_asked(loans, tmp_path):
    folder, frame, _ = loans
    (tmp_path / "schema.json").write_text('{"columns": [{"name": "zip", "type": "category"}]}', encoding="utf-8")
    model = woodwind.fit(folder / "train.csv", "late", schema=tmp_path / "schema.json", models=1)
    found = model.predict_proba(folder / "new.csv")
    X = frame.drop(columns="late")
    assert np.array_equal(model.predict_proba(X), found)
    assert np.array_equal(model.predict_proba(X.to_dict("list")), found)
    again = woodwind.fit(frame.to_dict("list"), "late", schema=tmp_path / "schema.json", models=1)
    assert np.array_equal(again.predict_proba(X), found)
