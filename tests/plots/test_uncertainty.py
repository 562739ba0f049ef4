"""Pictures of how sure models are, and of rankings: what is drawn are the facts."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import LinearRegression
from sklearn.metrics import ndcg_score

import woodwind
from woodwind import DataError, ParameterError
from woodwind.distributions import NormalDistribution, PoissonDistribution, PredictedDistribution
from woodwind.plots import FanChartDisplay, IntervalWidthDisplay, NDCGDisplay, PITDisplay, QuantileReliabilityDisplay
from woodwind.plots.pit_histogram import pit_levels

RNG = np.random.default_rng(0)


def normals(n=2000, spread=1.0):
    """Distributions of rows, and truths that are drawn from them with another spread."""
    mean = RNG.normal(size=n)
    return PredictedDistribution(NormalDistribution(), np.column_stack([mean, np.zeros(n)])), mean + spread * RNG.normal(size=n)


def test_intervals_stand_in_the_order_of_their_widths_and_show_who_is_outside():
    y, low, high = np.array([0.0, 5.0, 3.0]), np.array([-2.0, 0.0, 2.0]), np.array([2.0, 1.0, 8.0])
    display = IntervalWidthDisplay.from_predictions(y, low, high, coverage=0.9)
    assert display.coverage_ == pytest.approx(2 / 3)
    assert display.width_ == pytest.approx((4 + 1 + 6) / 3)
    ends = [segment[:, 1].tolist() for segment in display.bars_.get_segments()]
    assert ends == [[-0.5, 0.5], [-2.0, 2.0], [-3.0, 3.0]]
    assert display.outside_.get_offsets().tolist() == [[0.0, 4.5]]
    assert display.inside_.get_offsets()[:, 1].tolist() == [0.0, -2.0]
    assert "66.7% of 3 rows, 90% asked for" in display.text_.get_text()


def test_intervals_are_asked_of_any_model_that_has_them():
    X = RNG.random((80, 1))
    y = X[:, 0] + 0.1 * RNG.normal(size=80)
    conformal = woodwind.ConformalRegressor(LinearRegression(), cv=2, random_state=0).fit(X, y)
    low, high = conformal.predict_interval(X, 0.8)
    assert IntervalWidthDisplay.from_estimator(conformal, X, y, coverage=0.8).width_ == pytest.approx(np.mean(high - low))
    assert len(FanChartDisplay.from_estimator(conformal, X, X[:, 0], y, levels=[0.5, 0.9]).bands_) == 2
    for display, more in (
        (IntervalWidthDisplay, (y,)),
        (FanChartDisplay, (X[:, 0],)),
        (PITDisplay, (y,)),
        (QuantileReliabilityDisplay, (y,)),
    ):
        with pytest.raises(ParameterError, match="LinearRegression"):
            display.from_estimator(LinearRegression().fit(X, y), X, *more)


def test_the_histogram_is_flat_where_distributions_are_right_and_a_valley_where_they_are_narrow():
    right, narrow = (PITDisplay.from_predictions(*normals(spread=spread), bins=10) for spread in (1.0, 2.0))
    assert right.counts_.sum() == 2000
    assert right.distance_ < 0.12
    assert narrow.distance_ > 0.4
    assert narrow.counts_[[0, -1]].min() > 2 * narrow.counts_[4:6].max()
    heights = [bar.get_height() for bar in right.bars_]
    np.testing.assert_allclose(heights, right.counts_ / 200.0)


def test_levels_of_counts_are_spread_over_their_steps():
    rate = 3.0
    predicted = PredictedDistribution(PoissonDistribution(), np.full((4000, 1), np.log(rate)))
    levels = pit_levels(predicted, RNG.poisson(rate, 4000))
    assert PITDisplay(levels, bins=10).distance_ < 0.1


def test_reliability_is_the_share_of_rows_below_each_quantile():
    y, quantiles = np.arange(10.0), np.tile([[6.5, 1.5]], (10, 1))
    display = QuantileReliabilityDisplay.from_predictions(y, quantiles, [0.7, 0.2])
    np.testing.assert_allclose(display.lines_[0].get_xydata(), [[0.2, 0.2], [0.7, 0.7]])
    predicted, truth = normals()

    class Fixed:
        def predict_distribution(self, X):
            return predicted

    drawn = QuantileReliabilityDisplay.from_estimator({"fixed": Fixed()}, None, truth).lines_[0].get_xydata()
    assert np.abs(drawn[:, 1] - drawn[:, 0]).max() < 0.05
    assert len(drawn) == 19


def test_the_fan_has_a_band_for_each_level_the_widest_first():
    x = np.array([3.0, 1.0, 2.0])
    bands = {0.5: (x - 1, x + 1), 0.9: (x - 2, x + 2)}
    display = FanChartDisplay.from_predictions(x, x, bands, x + 0.5)
    assert display.line_.get_xdata().tolist() == [1.0, 2.0, 3.0]
    assert [text.get_text() for text in display.texts_] == ["90%", "50%"]
    heights = [np.ptp(band.get_paths()[0].vertices[:, 1]) for band in display.bands_]
    assert heights[0] > heights[1]
    assert display.scatter_.get_offsets().tolist() == [[1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]


def test_ndcg_by_cut_off_is_that_of_scikit_learn():
    y, scores, query = RNG.integers(0, 4, 60), RNG.random(60), np.repeat(np.arange(6), 10)
    display = NDCGDisplay.from_predictions(y, {"any": scores, "best": y.astype(float)}, group=query, cutoffs=[1, 3, 10, 50])
    for place, value in display.lines_[0].get_xydata():
        rows = [ndcg_score([2.0 ** y[query == one] - 1.0], [scores[query == one]], k=int(place)) for one in range(6)]
        assert value == pytest.approx(np.mean(rows))
    assert display.lines_[0].get_xdata().tolist() == [1.0, 3.0, 10.0]
    assert display.lines_[1].get_ydata().tolist() == pytest.approx([1.0, 1.0, 1.0])
    again = NDCGDisplay.from_predictions(y, scores, group=query, name="more", ax=display.ax_)
    assert again.lines_[0].get_color() not in [line.get_color() for line in display.lines_]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: IntervalWidthDisplay([1.0], [0.0, 1.0], [2.0]), lambda: IntervalWidthDisplay([1.0], [-np.inf], [np.inf]),
        lambda: IntervalWidthDisplay([1.0], [3.0], [2.0]), lambda: PITDisplay([1.5]), lambda: PITDisplay([0.5], bins=1),
        lambda: QuantileReliabilityDisplay({}), lambda: QuantileReliabilityDisplay.from_predictions([1.0], [[1.0]], [0.1, 0.2]),
        lambda: QuantileReliabilityDisplay.from_predictions([1.0], [[1.0]], [1.0]),
        lambda: FanChartDisplay([1.0], [1.0], {0.5: ([0.0], [1.0])}),
        lambda: FanChartDisplay([1.0, 2.0], [1.0, 2.0], {}), lambda: NDCGDisplay({}),
        lambda: NDCGDisplay.from_predictions([1.0, 0.0], [1.0, 2.0], group=[1, 1], cutoffs=[0]),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_in_words(wrong):
    before = plt.get_fignums()
    with pytest.raises((DataError, ParameterError), match="Display: "):
        wrong()
    assert plt.get_fignums() == before
