"""OrderedTargetEncoder: what training rows may know, what later rows know, and what it is called."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

import woodwind
from woodwind import DataError, OrderedTargetEncoder, ParameterError
from woodwind.base.errors import UnseenCategoryWarning


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"wood": rng.choice(["oak", "elm", "ash", None], n), "size": rng.integers(0, 9, n)})
    return X, rng.normal(size=n)


@pytest.mark.parametrize("mode", ["ordered", "out_of_fold"])
def test_random_labels_of_an_all_unique_column_say_nothing(mode):
    """What all rows say of each category tells every label; what a training row may know tells none."""
    y = np.random.default_rng(0).integers(0, 2, 2000)
    ids = np.array([f"id{k}" for k in range(2000)])[:, None]
    encoder = OrderedTargetEncoder(mode=mode, random_state=0)
    assert roc_auc_score(y, encoder.fit_transform(ids, y)[:, 0]) == pytest.approx(0.5, abs=0.03)
    assert roc_auc_score(y, encoder.transform(ids)[:, 0]) == 1.0


def test_later_rows_have_the_smoothed_mean_of_all_training_rows():
    X, y = table()
    encoder = OrderedTargetEncoder(smooth=2.0).fit(X, y)
    own = y[(X["wood"] == "oak").to_numpy()]
    none = y[X["wood"].isna().to_numpy()]
    found = encoder.transform(pd.DataFrame({"wood": ["oak", None], "size": [0, 0]}))
    assert found[:, 0] == pytest.approx([(rows.sum() + 2 * y.mean()) / (len(rows) + 2) for rows in (own, none)])
    with pytest.warns(UnseenCategoryWarning, match="each such row has the prior"):
        new = encoder.transform(pd.DataFrame({"wood": ["yew"], "size": [0]}))
    assert new[0, 0] == pytest.approx(y.mean())


def test_classes_have_a_column_each_and_counts_one_more():
    X, y = table()
    labels = np.where(y > 0.5, "high", np.where(y < -0.5, "low", "middle"))
    encoder = OrderedTargetEncoder(counts=True, random_state=1)
    known = encoder.fit_transform(X, labels)
    expected = [f"{column}_{ending}" for column in ("wood", "size") for ending in ("high", "low", "middle", "count")]
    assert encoder.get_feature_names_out().tolist() == expected
    assert known.shape == (300, 8)
    assert known[:, 3].max() == X["wood"].value_counts(dropna=False).max() - 1
    later = encoder.transform(X)
    assert later[:, :3].sum(axis=1) == pytest.approx(1.0, abs=0.05)  # each class has a strength of its own
    assert later[:, 3].tolist() == X["wood"].map(X["wood"].value_counts(dropna=False)).tolist() or later[:, 3].min() > 0


def test_two_classes_are_one_column_by_the_name_of_theirs():
    X, y = table()
    encoder = OrderedTargetEncoder().fit(X, np.where(y > 0, "yes", "no"))
    assert (encoder.target_type_, encoder.classes_.tolist()) == ("binary", ["no", "yes"])
    assert encoder.get_feature_names_out().tolist() == ["wood", "size"]
    oak = (X["wood"] == "oak").to_numpy()
    share = float((y[oak] > 0).mean())
    found = float(encoder.transform(X.iloc[np.flatnonzero(oak)[:1]])[0, 0])
    assert min(share, float((y > 0).mean())) <= found <= max(share, float((y > 0).mean()))


@pytest.mark.parametrize("mode", ["ordered", "out_of_fold"])
def test_any_number_of_threads_gives_the_same_bits(mode, monkeypatch):
    monkeypatch.setattr("woodwind.estimators.preprocessing.target_encoder.LEAST_WORK", 1)
    X, y = table(2000)
    X["id"] = np.arange(2000) % 700
    one, two, three = (OrderedTargetEncoder(mode=mode, random_state=3, n_jobs=jobs).fit_transform(X, y) for jobs in (1, 2, 3))
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)
    assert not np.array_equal(one, OrderedTargetEncoder(mode=mode, random_state=4).fit_transform(X, y))


def test_a_weight_of_two_is_a_row_given_twice_to_later_rows_and_one_of_zero_is_absent():
    X, y = table()
    weight = np.arange(300) % 3
    twice = np.repeat(np.arange(300), weight)
    one = OrderedTargetEncoder().fit(X, y, sample_weight=weight)
    other = OrderedTargetEncoder().fit(X.iloc[twice], y[twice])
    assert one.transform(X) == pytest.approx(other.transform(X), rel=1e-12)


def test_it_is_a_step_of_a_pipeline_and_comes_back_from_its_file(tmp_path):
    X, y = table()
    labels = (y > 0).astype(int)
    columns = ColumnTransformer([("means", OrderedTargetEncoder(random_state=0), ["wood"])], remainder="passthrough")
    assert make_pipeline(columns, LogisticRegression()).fit(X, labels).predict(X).shape == (300,)
    encoder = OrderedTargetEncoder(counts=True).fit(X, labels)
    encoder.save(tmp_path / "encoder.ww")
    back = woodwind.load(tmp_path / "encoder.ww")
    assert np.array_equal(back.transform(X), encoder.transform(X))
    assert back.get_params() == encoder.get_params()


def test_what_does_not_fit_is_refused():
    X, y = table()
    with pytest.raises(ParameterError, match="smooth"):
        OrderedTargetEncoder(smooth=-1.0).fit(X, y)
    with pytest.raises(DataError, match="target_type='binary', but y has 3 classes"):
        OrderedTargetEncoder(target_type="binary").fit(X, np.arange(300) % 3)
    encoder = OrderedTargetEncoder().fit(X, y)
    encoder.statistics_ = encoder.statistics_[:1]
    with pytest.raises(woodwind.WoodwindError, match="columns have not one statistic each"):
        encoder.save("never.ww")
