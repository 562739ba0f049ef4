"""Members that are not trees: worked by hand, and refused where their parts do not fit."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from woodwind.auto.members.knn_member import KnnMember
from woodwind.auto.members.linear_member import LinearMember
from woodwind.auto.members.mlp_member import MlpMember, PiecewiseInputs
from woodwind.auto.members.view import View
from woodwind.base.errors import DataError
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.store import load, save

LINEAR = LinearMember(np.array([[1.0], [2.0]]), np.array([0.5]), -30.0, 30.0)
NEIGHBOURS = KnnMember(
    np.array([[0.0], [1.0], [3.0]]),
    np.array([1]),
    np.array([2.0]),
    np.array([0.0, 1.0, 1.0]),
    np.ones(3),
    np.array([0.5, 0.5]),
    2,
    2,
    False,
    1.0,
)
PIECES = PiecewiseInputs(np.zeros(2), np.ones(2), np.array([1]), np.array([0.0]), np.array([0.5]))
NET = MlpMember(
    PIECES,
    (np.array([[[0.0], [0.0], [2.0]]], np.float32), np.array([[[3.0]]], np.float32)),
    (np.array([[[1.0]]], np.float32), np.array([[[0.25]]], np.float32)),
    np.array([2.0]),
    1.0,
    -100.0,
    100.0,
)


def test_linear_by_hand():
    assert LINEAR.check().scores_of(np.array([[1.0, 2.0], [0.0, 0.0]])).tolist() == [[5.5], [0.5]]
    # Columns end at ten standard deviations.
    assert LINEAR.scores_of(np.array([[1e300, 0.0]])).tolist() == [[10.5]]


def test_neighbours_by_hand():
    # The second column, doubled, is 1.0: the nearest rows have 1.0 and 0.0, one of each class; with one row of everybody it stays even.
    predicted = NEIGHBOURS.check().scores_of(np.array([[9.0, 0.5], [0.0, 2.0]]))
    assert predicted == pytest.approx(np.array([[0.0], [np.log(2.5 / 0.5)]]))
    numbers = replace(NEIGHBOURS, prior=np.array([0.5]), target=np.array([0.0, 1.0, 4.0]))
    assert numbers.check().scores_of(np.array([[0.0, 2.0]])) == pytest.approx(np.array([[5.5 / 3.0]]))


def test_a_net_by_hand():
    # The piece of 1.0 is (1 - 0) / 2 - 0.5 = 0; the hidden unit is x s(x) at x = 1.
    hidden = 1.0 / (1.0 + np.exp(-1.0))
    assert NET.check().scores_of(np.array([[5.0, 1.0]])) == pytest.approx(np.array([[2.0 * (3.0 * hidden + 0.25) + 1.0]]))


def test_a_member_reads_the_matrix_of_a_view():
    form = MatrixForm.learn(np.array([[1.0, 5.0], [3.0, 1.0]]))
    view = View(form.schema.read(np.array([[2.0, 3.0]])), form)
    assert LINEAR.scores(view).tolist() == [[0.5]]
    assert NEIGHBOURS.scores(view).shape == NET.scores(view, 2).shape == (1, 1)


@pytest.mark.parametrize(
    ("member", "change"),
    [
        (LINEAR, {"coef": np.zeros((2, 2))}),
        (LINEAR, {"coef": np.zeros(2)}),
        (LINEAR, {"start": np.array([np.nan])}),
        (LINEAR, {"high": np.inf}),
        (NEIGHBOURS, {"k": 4}),
        (NEIGHBOURS, {"k": 0}),
        (NEIGHBOURS, {"column": np.array([2])}),
        (NEIGHBOURS, {"column": np.array([-1])}),
        (NEIGHBOURS, {"scale": np.ones(2)}),
        (NEIGHBOURS, {"target": np.array([0.0, 1.0, 2.0])}),
        (NEIGHBOURS, {"target": np.array([0.0, 1.0])}),
        (NEIGHBOURS, {"weight": np.zeros(3)}),
        (NEIGHBOURS, {"strength": 0.0}),
        (NEIGHBOURS, {"prior": np.array([1.0, 0.0])}),
        (NEIGHBOURS, {"rows": np.array([[np.inf], [1.0], [2.0]])}),
        (NET, {"pieces": replace(PIECES, column=np.array([2]))}),
        (NET, {"pieces": replace(PIECES, low=np.zeros(2))}),
        (NET, {"pieces": replace(PIECES, scale=np.array([1.0, np.nan]))}),
        (NET, {"weights": NET.weights[:1]}),
        (NET, {"weights": (NET.weights[1], NET.weights[1])}),
        (NET, {"biases": (NET.biases[0], NET.biases[0][:, :, :0])}),
        (NET, {"weights": (NET.weights[0] * np.float32(np.nan), NET.weights[1])}),
        (NET, {"weights": (), "biases": ()}),
        (NET, {"scale": np.ones(2)}),
        (NET, {"shift": np.nan}),
    ],
)
def test_parts_that_do_not_fit_are_refused(member, change):
    with pytest.raises(DataError):
        replace(member, **change).check()


@pytest.mark.parametrize("member", [LINEAR, NEIGHBOURS, NET])
def test_a_matrix_of_another_table_is_refused(member):
    assert member.n_columns == 2
    with pytest.raises(DataError, match="2 columns"):
        member.scores_of(np.zeros((3, 5)))


@pytest.mark.parametrize("member", [LINEAR, NEIGHBOURS, NET])
def test_a_file_gives_back_the_same_bits(member, tmp_path):
    save(tmp_path / "member.ww", member)
    again = load(tmp_path / "member.ww")
    assert type(again) is type(member)
    asked = np.random.default_rng(0).normal(size=(20, 2))
    assert again.scores_of(asked).tobytes() == member.scores_of(asked).tobytes()


def test_predicting_needs_neither_scikit_learn_nor_scipy():
    names = ", ".join(f"woodwind.auto.members.{name}_member" for name in ("linear", "knn", "mlp"))
    # Numba itself imports the bare SciPy where it is installed.
    code = f"import sys, {names}; print({{'sklearn', 'scipy.spatial', 'scipy.optimize', 'pandas'}} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60).strip() == "set()"
