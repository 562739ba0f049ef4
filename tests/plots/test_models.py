"""Pictures of trained models: what is drawn are the facts."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from sklearn.inspection import partial_dependence as theirs
from sklearn.linear_model import LinearRegression

import woodwind
from woodwind import DataError, ParameterError
from woodwind.estimators.diagnostics.partial_dependence import partial_dependence
from woodwind.plots import (
    ImportanceDisplay,
    LearningCurvesDisplay,
    PartialDependenceDisplay,
    ShapBeeswarmDisplay,
    ShapDependenceDisplay,
    ShapWaterfallDisplay,
    TreeDisplay,
    plot_importance,
    plot_partial_dependence,
    plot_tree,
)

DRAW = np.random.default_rng(0)
X = pd.DataFrame({"size": DRAW.normal(size=200), "age": DRAW.integers(0, 40, 200), "colour": DRAW.choice(["red", "green", "<b>blue"], 200)})
X.loc[::9, "size"] = np.nan
LABELS = np.where(X["size"].fillna(0.3) + 0.05 * X["age"] + (X["colour"] == "red") > 1.4, "yes", "no")
NUMBERS = X["size"].fillna(0.3) + 0.1 * X["age"]
BOOSTED = woodwind.GradientBoostingClassifier(n_estimators=8, max_leaf_nodes=6, random_state=0).fit(
    X[:120], LABELS[:120], eval_set={"spring": (X[120:160], LABELS[120:160]), "autumn": (X[160:], LABELS[160:])}
)
EXPLAINED = BOOSTED.explain(X[:80])


def texts_of(display):
    return [text.get_text() for text in display.texts_]


def test_a_tree_is_drawn_node_by_node():
    tree = woodwind.DecisionTreeRegressor(max_depth=2).fit(X[["size", "age"]], NUMBERS)
    display = plot_tree(tree, max_depth=None)
    forest = tree.forest_
    assert len(display.texts_) == forest.n_nodes
    root = display.texts_[0].get_text()
    assert tree.schema_.feature_names[forest.feature[0]] in root
    assert f"{forest.threshold[0]:.3f}" in root
    leaves = [box for box in display.boxes if box["leaf"]]
    assert len(leaves) == tree.get_n_leaves()
    assert sorted(float(box["text"].split("\n")[0]) for box in leaves) == pytest.approx(
        sorted(forest.value[forest.feature < 0, 0]), abs=1e-3
    )
    assert sorted(box["x"] for box in leaves) == list(range(len(leaves)))
    answers = {box["answer"] for box in display.boxes}
    assert answers <= {"", "yes", "no", "yes or missing", "no or missing"}


def test_a_large_tree_is_cut_and_trees_of_all_kinds_are_drawn():
    cut = TreeDisplay.from_estimator(BOOSTED, -1, max_depth=1)
    assert len(cut.boxes) == 3
    assert sum("…" in text for text in texts_of(cut)) >= 1
    forest = woodwind.RandomForestClassifier(n_estimators=3, random_state=0).fit(X, LABELS)
    assert "no 0." in "".join(texts_of(plot_tree(forest, 2, max_depth=2)))
    stump = woodwind.DecisionTreeRegressor(max_depth=1).fit([[0.0], [0.0]], [1.0, 2.0])
    assert len(plot_tree(stump).boxes) == 1
    with pytest.raises(ParameterError, match="8 trees"):
        plot_tree(BOOSTED, 8)
    with pytest.raises(ParameterError, match="LinearRegression"):
        plot_tree(LinearRegression())


def test_bars_are_the_importances_in_order():
    display = plot_importance(BOOSTED)
    assert [bar.get_width() for bar in display.bars_] == sorted(BOOSTED.feature_importances_, reverse=True)
    by_splits = plot_importance(BOOSTED, importance_type="split", max_display=2)
    assert [bar.get_width() for bar in by_splits.bars_] == sorted(BOOSTED.feature_importance("split"), reverse=True)[:2]
    explained = plot_importance(BOOSTED, X[:80], importance_type="shap")
    assert np.allclose(sorted(explained.values), sorted(EXPLAINED.importance()[:, 0]))
    with pytest.raises(ParameterError, match="Give them as X"):
        plot_importance(BOOSTED, importance_type="shap")
    with pytest.raises(ParameterError, match="must be one of"):
        plot_importance(BOOSTED, importance_type="weight of all")
    with pytest.raises(DataError):
        ImportanceDisplay(["a"], [1.0, 2.0])


def test_partial_dependence_is_the_mean_of_predictions_with_the_column_set():
    model = woodwind.GradientBoostingRegressor(n_estimators=8, random_state=0).fit(X, NUMBERS)
    found = partial_dependence(model, X, ["age"])
    grid = found.columns[0]
    for value, mean in zip(grid.numbers, found.average, strict=True):
        assert mean == pytest.approx(model.predict(X.assign(age=int(value))).mean())
    both = partial_dependence(model, X, ["size", "colour"], grid_size=4)
    value, word = both.columns[0].numbers[1], both.columns[1].words[0]
    assert both.average[1, 0] == pytest.approx(model.predict(X.assign(size=value, colour=word)).mean())


def test_partial_dependence_is_that_of_scikit_learn():
    numbers = X[["size", "age"]].fillna(0.0).to_numpy()
    model = woodwind.GradientBoostingRegressor(n_estimators=8, random_state=0).fit(numbers, NUMBERS)
    found = partial_dependence(model, numbers, [1])
    expected = theirs(model, numbers, [1], custom_values={1: found.columns[0].numbers}, kind="average", method="brute")
    assert np.allclose(found.average, expected["average"][0])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, lambda frame: pa.Table.from_pandas(frame, preserve_index=False)])
def test_tables_of_any_kind_have_partial_dependence(kind):
    frame = X.assign(colour=pd.Categorical(X["colour"]))
    model = woodwind.GradientBoostingClassifier(n_estimators=4, random_state=0).fit(frame, LABELS)
    for column in ("size", "colour", 1):
        expected, found = partial_dependence(model, frame, [column]), partial_dependence(model, kind(frame), [column])
        assert np.allclose(found.average, expected.average)


def test_curves_points_and_maps_are_drawn():
    display = plot_partial_dependence(BOOSTED, X, ["age", "colour", ("age", "size"), ("age", "colour")], kind="both")
    assert len(display.lines_) == 4
    found = display.results[0]
    assert np.allclose(display.lines_[0][-1].get_ydata(), found.average)
    assert display.axes_[1].get_xticklabels()[0].get_text() in set(X["colour"])
    assert display.axes_[0].get_ylabel() == "Probability of yes"
    centred = plot_partial_dependence(BOOSTED, X, ["age"], kind="individual", centered=True)
    assert all(line.get_ydata()[0] == 0.0 for line in centred.lines_[0])
    _, axes = plt.subplots(1, 2)
    assert PartialDependenceDisplay.from_estimator(BOOSTED, X, ["age", "size"], ax=axes).axes_[1] is axes[1]


def test_what_partial_dependence_cannot_draw_is_said():
    three = woodwind.GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, np.digitize(NUMBERS, [1, 3]))
    with pytest.raises(ParameterError, match="give target"):
        plot_partial_dependence(three, X, ["age"])
    assert plot_partial_dependence(three, X, ["age"], target=2).results[0].predicted == "probability of 2"
    for columns, words in (
        (["none"], "no column"),
        ([("age", "age")], "the same"),
        ([], "at least one"),
        ([("age", "size", 2)], "one or two"),
    ):
        with pytest.raises((ParameterError, DataError), match=words):
            plot_partial_dependence(BOOSTED, X, columns)
    with pytest.raises(ParameterError, match="kind"):
        plot_partial_dependence(BOOSTED, X, ["age"], kind="all")
    with pytest.raises(DataError, match="pandas, polars or Arrow"):
        plot_partial_dependence(BOOSTED, [[1, 2, "red"]], ["age"])


def test_points_of_the_beeswarm_are_shapley_values():
    display = ShapBeeswarmDisplay.from_estimator(BOOSTED, X[:80])
    order = np.argsort(-EXPLAINED.importance()[:, 0])
    assert display.columns_ == order.tolist()
    for column, points in zip(order, display.scatters_, strict=True):
        assert np.allclose(points.get_offsets()[:, 0], EXPLAINED.values[:, column, 0])
    cut = ShapBeeswarmDisplay.from_explanation(EXPLAINED, max_display=1)
    assert np.allclose(cut.scatters_[1].get_offsets()[:, 0], EXPLAINED.values[:, order[1:], 0].sum(axis=1))
    heights = np.concatenate([points.get_offsets()[:, 1] % 1.0 for points in display.scatters_])
    assert ((heights < 0.5) | (heights > 0.5)).all()  # no point is in the row of another column


def test_the_waterfall_goes_from_the_mean_to_the_score():
    display = ShapWaterfallDisplay.from_estimator(BOOSTED, X[:80], row=3, max_display=2)
    widths = [bar.get_width() for bar in display.bars_]
    assert sum(widths) == pytest.approx(EXPLAINED.scores[3, 0] - EXPLAINED.base[0])
    assert display.bars_[-1].get_x() == pytest.approx(EXPLAINED.base[0])
    assert display.bars_[0].get_x() + widths[0] == pytest.approx(EXPLAINED.scores[3, 0])
    with pytest.raises(ParameterError, match="row"):
        ShapWaterfallDisplay.from_explanation(EXPLAINED, row=80)


def test_dependence_is_over_numbers_and_over_categories():
    display = ShapDependenceDisplay.from_estimator(BOOSTED, X[:80], "age", color="size")
    assert np.allclose(display.scatter_.get_offsets(), np.column_stack([X["age"][:80], EXPLAINED.values[:, 1, 0]]))
    words = ShapDependenceDisplay.from_explanation(EXPLAINED, "colour")
    assert [label.get_text() for label in words.ax_.get_xticklabels()] == ["<b>blue", "green", "red"]
    gaps = ShapDependenceDisplay.from_explanation(EXPLAINED, 0)
    assert "missing" in [text.get_text() for text in gaps.ax_.texts]
    with pytest.raises(ParameterError, match="no column"):
        ShapDependenceDisplay.from_explanation(EXPLAINED, "weight")
    with pytest.raises(ParameterError, match="categories"):
        ShapDependenceDisplay.from_explanation(EXPLAINED, "age", color="colour")
    with pytest.raises(ParameterError, match="output"):
        ShapBeeswarmDisplay.from_explanation(EXPLAINED, output="maybe")


def test_every_class_can_be_asked_for():
    three = woodwind.GradientBoostingClassifier(n_estimators=2, random_state=0).fit(
        X, np.array(["a", "b", "c"])[np.digitize(NUMBERS, [1, 3])]
    )
    explained = three.explain(X[:30])
    display = ShapBeeswarmDisplay.from_explanation(explained, output="b")
    assert display.output == 1
    assert "b" in display.ax_.get_xlabel()


def test_learning_curves_are_those_of_all_tables():
    display = LearningCurvesDisplay.from_estimator(BOOSTED)
    assert [line.get_ydata().tolist() for line in display.lines_] == [
        next(iter(BOOSTED.evals_result_[name].values())).tolist() for name in ("training", "spring", "autumn")
    ]
    assert texts_of(display) == ["training", "spring", "autumn"]
    other = LearningCurvesDisplay.from_results({"train": {"auc": [0.6, 0.7, 0.8], "loss": [3, 2, 1]}}, metric="auc", best_iteration=2)
    assert other.ax_.get_ylabel() == "auc"
    assert " best: 2" in [text.get_text() for text in other.ax_.texts]
    with pytest.raises(ParameterError, match="metric"):
        LearningCurvesDisplay.from_results({"train": {"auc": [0.6]}}, metric="loss")
    with pytest.raises(ParameterError, match="evals_result_"):
        LearningCurvesDisplay.from_estimator(LinearRegression())


def test_pictures_are_drawn_on_dark_paper_and_on_axes_that_are_given():
    with mpl.rc_context(), plt.style.context("dark_background"):
        _, axes = plt.subplots(2, 3, layout="constrained")
        plot_tree(BOOSTED, max_depth=1, ax=axes[0, 0])
        plot_importance(BOOSTED, ax=axes[0, 1])
        plot_partial_dependence(BOOSTED, X, ["age"], ax=axes[0, 2])
        ShapBeeswarmDisplay.from_explanation(EXPLAINED, ax=axes[1, 0])
        ShapWaterfallDisplay.from_explanation(EXPLAINED, ax=axes[1, 1])
        display = ShapDependenceDisplay.from_explanation(EXPLAINED, "age", ax=axes[1, 2])
        display.figure_.canvas.draw()


def test_an_explanation_shows_itself_in_a_notebook():
    page = EXPLAINED._repr_html_()
    assert page.count("<table>") == 3
    assert "77 more rows" in page
    # Names and values are escaped.
    page = woodwind.DecisionTreeClassifier().fit(X[["colour"]], X["colour"] == "<b>blue").explain(X[["colour"]])._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;blue" in page
