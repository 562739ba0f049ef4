"""What is drawn are the facts."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import woodwind
from woodwind import BaggingClassifier, DataError, ParameterError, diversity
from woodwind.plots import (
    BiasVarianceDisplay,
    KappaErrorDisplay,
    MajorityVoteDisplay,
    MarginDisplay,
    MemberCorrelationDisplay,
    StrengthDiversityDisplay,
)

OF_MEMBERS = [KappaErrorDisplay, StrengthDiversityDisplay, MemberCorrelationDisplay]


def rows(seed=0, n=90):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "good", "bad")


def test_the_pictures_are_reached_from_the_package():
    assert woodwind.plots.KappaErrorDisplay is KappaErrorDisplay
    assert all(hasattr(woodwind.plots, name) for name in woodwind.plots.__all__)


def test_points_of_the_kappa_error_diagram_are_pairs(votes):
    truth, predicted = votes
    display = KappaErrorDisplay.from_predictions(truth, predicted)
    first, second = np.triu_indices(4, 1)
    errors = (predicted != truth[:, None]).mean(axis=0)
    expected = np.column_stack([diversity.kappa(predicted)[first, second], (errors[first] + errors[second]) / 2])
    assert np.allclose(display.scatter_.get_offsets(), expected)
    assert np.allclose(display.centre_.get_xydata(), expected.mean(axis=0))


def test_points_of_strength_and_diversity_are_members(votes):
    truth, predicted = votes
    display = StrengthDiversityDisplay.from_predictions(truth, predicted, member_names=list("abcd"))
    pairs = diversity.disagreement(predicted == truth[:, None])
    points = display.scatter_.get_offsets()
    assert np.allclose(points[:, 0], pairs.sum(axis=1) / 3)
    assert np.allclose(points[:, 1], (predicted == truth[:, None]).mean(axis=0))
    assert display.line_.get_ydata()[0] == pytest.approx(diversity.diversity_report(truth, predicted)["vote_accuracy"])
    assert {"a", "b", "c", "d"} <= {text.get_text() for text in display.texts_}


@pytest.mark.parametrize("measure", ["q_statistic", "correlation", "double_fault", "kappa"])
def test_any_measure_of_pairs_may_be_drawn(votes, measure):
    truth, predicted = votes
    matrix = getattr(diversity.pairwise(predicted == truth[:, None], predicted), measure)
    points = StrengthDiversityDisplay.from_predictions(truth, predicted, measure=measure).scatter_.get_offsets()
    assert np.allclose(points[:, 0], (matrix.sum(axis=1) - np.diagonal(matrix)) / 3)
    display = MemberCorrelationDisplay.from_predictions(truth, predicted, measure=measure)
    apart = ~np.eye(4, dtype=bool)
    assert np.allclose(display.image_.get_array()[apart], matrix[np.ix_(display.order_, display.order_)][apart])


def test_members_that_predict_numbers_are_drawn_by_their_errors():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=50)
    predicted = truth[:, None] + rng.normal(size=(50, 3)) * [0.1, 0.5, 1.0]
    points = StrengthDiversityDisplay.from_predictions(truth, predicted).scatter_.get_offsets()
    assert np.allclose(points[:, 1], np.sqrt(((predicted - truth[:, None]) ** 2).mean(axis=0)))
    assert np.allclose(MemberCorrelationDisplay.from_predictions(truth, predicted).matrix, diversity.error_correlation(truth, predicted))


def test_members_that_are_alike_stand_side_by_side():
    truth = np.arange(60) % 2
    rng = np.random.default_rng(1)
    one, other = (np.where(rng.random(60) < 0.8, truth, 1 - truth) for _ in range(2))
    display = MemberCorrelationDisplay.from_predictions(truth, {"a": one, "b": other, "again a": one, "again b": other})
    order = [display.names[position] for position in display.order_]
    assert abs(order.index("a") - order.index("again a")) == 1
    assert abs(order.index("b") - order.index("again b")) == 1
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == order


def test_curves_of_margins_are_their_distributions(votes):
    truth, predicted = votes
    display = MarginDisplay.from_predictions(truth, predicted, weights=[4, 3, 2, 1])
    found = diversity.margin_distribution(diversity.vote_margins(truth, predicted, [4, 3, 2, 1]))
    x, y = display.lines_[0].get_data()
    assert np.allclose(x[1:-1], found.values)
    assert np.allclose(y[1:-1], found.cumulative)
    assert [text.get_text() for text in display.texts_] == ["vote"]


def test_margins_of_boosting_are_of_weighted_votes_and_others_of_probabilities():
    X, y = rows()
    boosted = woodwind.AdaBoostClassifier(n_estimators=10).fit(X, y)
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    display = MarginDisplay.from_estimator({"boosted": boosted, "bag": bag}, X, y)
    side = np.where(y == boosted.classes_[1], 1.0, -1.0)
    # A vote counts for and against: twice the margin.
    assert np.allclose(display.margins["boosted"], side * boosted.decision_function(X) / 2)
    assert np.allclose(display.margins["bag"], side * (bag.predict_proba(X)[:, 1] - bag.predict_proba(X)[:, 0]))


def test_bars_are_as_long_as_bias_and_variance():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 30)
    predicted = {
        "good": np.where(rng.random((20, 30)) < 0.9, truth, 1 - truth),
        "bad": np.where(rng.random((20, 30)) < 0.6, truth, 1 - truth),
    }
    display = BiasVarianceDisplay.from_predictions(truth, predicted)
    found = [diversity.zero_one_decomposition(truth, one) for one in predicted.values()]
    widths = {part: [bar.get_width() for bar in bars] for part, bars in display.bars_.items()}
    assert np.allclose(widths["bias"], [one.bias for one in found])
    assert np.allclose(widths["variance"], [one.variance_unbiased for one in found])
    assert np.allclose(widths["variance that helps"], [-one.variance_biased for one in found])
    assert np.allclose(np.sum([*widths.values()], axis=0), display.marks_.get_xdata())


def test_bias_and_variance_are_found_by_training_again():
    X, y = rows()
    learners = {"stump": DecisionTreeClassifier(max_depth=1), "tree": DecisionTreeClassifier()}
    display = BiasVarianceDisplay.from_estimator(learners, X, y, n_rounds=12, random_state=0)
    assert display.parts["stump"].loss == woodwind.bias_variance(learners["stump"], X, y, n_rounds=12, random_state=0).loss
    numbers = BiasVarianceDisplay.from_estimator(DecisionTreeRegressor(), X, X[:, 0], n_rounds=20, random_state=0)
    assert list(numbers.parts) == ["DecisionTreeRegressor"]
    assert "squared" in numbers.ax_.get_xlabel()


@pytest.mark.parametrize("display", OF_MEMBERS)
def test_members_are_asked_and_drawn_where_they_are_wanted(display):
    X, y = rows()
    members = {"tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y), "bayes": GaussianNB().fit(X, y)}
    predicted = np.column_stack([one.predict(X) for one in members.values()])
    figure, (left, right) = plt.subplots(1, 2)
    asked = display.from_estimator(members, X, y, ax=left)
    assert asked.ax_ is left
    assert asked.figure_ is figure
    assert plt.gca() is right  # whose turn it is has not changed
    told = display.from_predictions(y, predicted, member_names=list(members))
    assert told.figure_ is not figure
    assert plt.get_fignums() == [figure.number, told.figure_.number]
    name = {"KappaErrorDisplay": "kappa", "StrengthDiversityDisplay": "diversity"}.get(display.__name__, "matrix")
    assert np.array_equal(getattr(asked, name), getattr(told, name))


@pytest.mark.parametrize("display", OF_MEMBERS)
def test_members_of_an_ensemble_are_asked(display):
    X, y = rows()
    bag = BaggingClassifier(n_estimators=30, max_samples=0.3, max_features=2, random_state=0).fit(X, y)
    assert display.from_estimator(bag, X, y).ax_.figure is not None


def test_a_second_ensemble_on_the_same_axes_has_another_colour(votes):
    truth, predicted = votes
    first = KappaErrorDisplay.from_predictions(truth, predicted, name="first")
    second = KappaErrorDisplay.from_predictions(truth, predicted[:, :3], name="second", ax=first.ax_)
    assert not np.array_equal(first.scatter_.get_facecolor(), second.scatter_.get_facecolor())
    assert [text.get_text() for text in (*first.texts_, *second.texts_)] == ["first", "second"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: KappaErrorDisplay.from_predictions([0, 1], [0, 1]), "a column for each of at least two members"),
        (lambda: KappaErrorDisplay([1.0], [1.0, 2.0]), "one number for each pair"),
        (lambda: StrengthDiversityDisplay([1.0], [1.0, 2.0]), "one number for each member"),
        (lambda: StrengthDiversityDisplay.from_predictions([0, 1], [[0, 1], [1, 1]], member_names=["a"]), "2 members, but 1 names"),
        (lambda: StrengthDiversityDisplay.from_predictions([0, 1], [[0, 1], [1, 1]], measure="love"), "'disagreement', 'q_statistic'"),
        (lambda: MemberCorrelationDisplay(np.ones((2, 3))), "must be square"),
        (lambda: MemberCorrelationDisplay(np.eye(3), ["a"]), "3 members, but 1 names"),
        (lambda: MemberCorrelationDisplay.from_predictions([0, 1], [[0, 1], [1, 1]], measure="love"), "measure must be one of"),
        (lambda: MarginDisplay({}), "at least one ensemble"),
        (lambda: MarginDisplay.from_predictions([0, 1], {"a": [[0, 1], [1, 1]]}, weights=[1, 1]), "Draw each by itself"),
        (lambda: MarginDisplay.from_estimator(object(), [[0.0]], [0]), "no predict_proba"),
        (lambda: BiasVarianceDisplay({"a": 3}), "results of woodwind.bias_variance"),
        (lambda: KappaErrorDisplay.from_predictions([0, 1, 1], [[0, 1], [1, 1], [1, 0]], ax="here"), "axes of a matplotlib figure"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, told):
    with pytest.raises((DataError, ParameterError), match=told):
        call()


def test_pictures_of_labels_refuse_regressors_and_name_the_picture_for_them():
    X, _ = rows()
    trained = [DecisionTreeRegressor(max_depth=depth).fit(X, X[:, 0]) for depth in (1, 2)]
    forest = woodwind.RandomForestRegressor(n_estimators=3).fit(X, X[:, 0])
    for estimators in (trained, {"one": trained[0], "two": trained[1]}, forest):
        with pytest.raises(ParameterError, match="MemberCorrelationDisplay shows how alike the errors of regressors are"):
            KappaErrorDisplay.from_estimator(estimators, X, X[:, 0])
    with pytest.raises(DataError, match="numbers with a fraction"):
        KappaErrorDisplay.from_predictions(X[:, 0], X[:, 1:])
    KappaErrorDisplay.from_predictions(np.rint(X[:, 0]), np.rint(X[:, 1:]))  # labels may be written as 1.0
    for model in (forest, woodwind.AdaBoostRegressor(n_estimators=3).fit(X, X[:, 0])):
        with pytest.raises(ParameterError, match="StrengthDiversityDisplay is for numbers"):
            MarginDisplay.from_estimator(model, X, X[:, 0])
    plt.close("all")


def test_the_correlation_of_probabilities_may_be_drawn():
    X, y = rows()
    forest = BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0).fit(X, y)
    display = StrengthDiversityDisplay.from_estimator(forest, X, y, measure="probability_correlation")
    given = np.stack([one.predict_proba(X) for one in forest.estimators_], axis=1)
    matrix = diversity.probability_correlation(given)
    assert np.allclose(display.scatter_.get_offsets()[:, 0], (matrix.sum(axis=1) - 1) / 3)
    with pytest.raises(ParameterError, match="from_estimator"):
        StrengthDiversityDisplay.from_predictions(y, np.column_stack([y, y]), measure="probability_correlation")


# The majority vote.


def test_the_curve_of_the_majority_is_that_of_condorcet():
    display = MajorityVoteDisplay.from_accuracies([0.6, 0.5, 0.4], max_members=21)
    assert [text.get_text() for text in display.texts_] == ["each right in 60 %", "each right in 50 %", "each right in 40 %"]
    sizes, errors = display.lines_[0].get_data()
    assert sizes.tolist() == list(range(1, 22, 2))
    assert np.allclose(errors, [1 - diversity.majority_probability(0.6, m) for m in sizes])
    assert np.allclose(display.lines_[1].get_ydata(), 0.5)
    assert (np.diff(errors) < 0).all()
    assert (np.diff(display.lines_[2].get_ydata()) > 0).all()


def test_voters_may_differ_or_err_together():
    each = [0.9, 0.6, 0.6, 0.55]
    display = MajorityVoteDisplay.from_accuracies({"four": each, "alike": 0.6}, max_members=9)
    assert np.allclose(display.curves["four"][1], [1 - diversity.majority_probability(each[:m]) for m in (1, 2, 3, 4)])
    together = MajorityVoteDisplay.from_accuracies(0.6, max_members=9, correlation=0.3, ax=display.ax_)
    assert np.allclose(
        together.lines_[0].get_ydata(), [1 - diversity.correlated_majority_probability(0.6, m, 0.3) for m in (1, 3, 5, 7, 9)]
    )
    assert together.lines_[0].get_color() not in [line.get_color() for line in display.lines_]


def test_a_vote_of_nobody_is_refused():
    for wrong in ({"accuracies": 0.6, "max_members": 0}, {"accuracies": {"a": [0.6, 0.7]}, "correlation": 0.2}, {"accuracies": 1.5}):
        with pytest.raises(ParameterError):
            MajorityVoteDisplay.from_accuracies(**wrong)
    with pytest.raises(DataError):
        MajorityVoteDisplay({})
