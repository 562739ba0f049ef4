"""The deadline is a matter of the whole job: every phase asks the clock, and whenever it runs out there is a model, or one clear line."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import woodwind
from tests.auto.fakes import Time
from woodwind.auto.clock import LATE, Clock, OutOfTimeError
from woodwind.auto.events import FactsBegan
from woodwind.auto.training import affordable, mlp_training
from woodwind.auto.training.affordable import affordable_columns
from woodwind.auto.training.knn_training import KnnRows, relevance
from woodwind.base.errors import JobError
from woodwind.cli.main import call
from woodwind.data.reading.files import read_table
from woodwind.data.tables.schema import Schema
from woodwind.estimators.auto import fit, linear_training

BUDGET = 20.0
RNG = np.random.default_rng(0)
N = 120
TABLE = {
    "height": RNG.normal(size=N).round(3).tolist(),
    "width": RNG.normal(size=N).round(3).tolist(),
    "town": [f"town {number % 15}" for number in range(N)],
}
TABLE["y"] = ["high" if value > 0 else "low" for value in TABLE["height"]]


class Ticking:
    """A time of which a little passes whenever somebody asks for it, and much at one of these moments; it remembers who has asked."""

    def __init__(self, tick=0.004, jump_at=None, jump=3 * BUDGET):
        self.now, self.asked, self.tick, self.jump_at, self.jump = 0.0, 0, tick, jump_at, jump
        self.modules = set()

    def __call__(self):
        self.asked += 1
        self.now += self.jump if self.asked == self.jump_at else self.tick
        frame = sys._getframe(1)
        while frame is not None:
            self.modules.add(frame.f_globals.get("__name__", ""))
            frame = frame.f_back
        return self.now


@pytest.fixture
def job(monkeypatch, tmp_path):
    """The job on a file, by a clock of our own."""
    columns = [",".join(TABLE), *(",".join(map(str, row)) for row in zip(*TABLE.values(), strict=True))]
    path = tmp_path / "table.csv"
    path.write_text("\n".join([*columns, ""]), encoding="utf-8")

    def run(time, **options):
        monkeypatch.setattr(fit, "clock_of", lambda values: Clock(BUDGET, now=time))
        return woodwind.fit(path, "y", threads=1, **options)

    return run


PHASES = {
    "woodwind.data.reading.csv_file", "woodwind.data.quality.view", "woodwind.data.tables.schema", "woodwind.auto.training.boosting",
    "woodwind.ensemble.boosting.folds",
    "woodwind.auto.training.forests", "woodwind.auto.training.matrix_family", "woodwind.auto.training.knn_training",
    "woodwind.auto.training.mlp_training",
    "woodwind.estimators.auto.linear_training", "woodwind.auto.blend", "woodwind.auto.job",
}  # fmt: skip


def test_every_phase_asks_the_clock(job):
    times = [Ticking(), Ticking()]
    job(times[0], exclude=("net", "neighbours"))
    job(times[1], exclude=("boosting", "forest", "linear"))
    assert PHASES - times[0].modules - times[1].modules == set()


def test_whenever_the_clock_runs_out_there_is_a_model_or_a_clear_line(job):
    whole = Ticking()
    job(whole, exclude=("net", "neighbours"))
    ended: list[str] = []
    lines: list[str] = []
    for jump_at in sorted({*range(2, 40, 3), *np.linspace(40, whole.asked, 12).astype(int).tolist()}):
        time = Ticking(jump_at=jump_at)
        try:
            model = job(time, exclude=("net", "neighbours"))
        except JobError as error:
            lines.append(str(error))
            ended.append("line")
        else:
            assert model.predict_proba(TABLE).shape == (N, 2)
            assert np.isfinite(model.score_)
            ended.append("model")
            # Nothing is begun once it is over: what is left is to weigh, to write, and to say what was left out.
            assert time.asked <= jump_at + 40
    assert ended[0] == "line"
    assert ended[-1] == "model"
    assert ended == sorted(ended)  # a line only as long as nothing could be learned
    for line in lines:
        assert line.startswith("The time was over while ")
        assert line.endswith("Give more time, or fewer rows or columns.")
        assert len(line.splitlines()) == 1


def test_a_phase_that_is_cut_short_says_so(job):
    # As long as columns are looked at, the share of suspicions is used up: that is told, and is no reason to leave members out.
    slow = Ticking(tick=0.2)
    model = job(slow)
    assert model.suspicions_[-1].kind == "not looked for"
    assert "no time" in model.suspicions_[-1].words


def test_facts_that_there_is_no_time_for_are_named_with_the_reason(job):
    time = Ticking()

    def leap(event):
        time.now += BUDGET if isinstance(event, FactsBegan) else 0.0

    model = job(time, exclude=("net", "neighbours", "linear"), listener=leap)
    assert {one["why"] for one in model.facts_["left_out"]} == {"no time was left for it"}
    assert {one["part"] for one in model.facts_["left_out"]} >= {"quality", "importance"}


# ------------------------------------------------------------------------------------------------------- reading


def over(after):
    """A watch that has no time after so many parts."""
    left = [after]

    def watch():
        left[0] -= 1
        if left[0] < 0:
            raise JobError("The time was over")

    return watch, left


def test_reading_can_be_ended_after_every_part(tmp_path, monkeypatch):
    table = pa.table({f"x{number}": np.arange(50) * 0.5 for number in range(40)})
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("\n".join(["a,b", *(f"{number},word" for number in range(3000)), ""]))
    monkeypatch.setattr("woodwind.data.reading.files._AT_ONCE", 1)
    monkeypatch.setattr("woodwind.data.reading.csv_file._BLOCK", 1)
    for name in ("a.parquet", "a.csv"):
        watch, left = over(1000)
        whole = read_table(tmp_path / name, watch=watch)
        assert whole.equals(read_table(tmp_path / name))
        assert left[0] <= 997  # in some parts
        with pytest.raises(JobError, match="The time was over"):
            read_table(tmp_path / name, watch=over(1)[0])


def test_learning_what_columns_are_can_be_ended_after_every_column():
    watch, left = over(3)
    with pytest.raises(JobError):
        Schema.learn(np.zeros((5, 9)), watch=watch)
    assert left[0] == -1


def test_the_command_ends_with_one_line_where_the_time_is_over_while_it_reads(tmp_path, monkeypatch, capsys):
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *(f"{number},{number % 2}" for number in range(90)), ""]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fit, "clock_of", lambda values: Clock(BUDGET, now=Ticking(jump_at=2)))
    assert call(["fit", "t.csv", "--target", "y", "--time", "20"]) == 5
    predicted = capsys.readouterr().err.strip().splitlines()
    assert predicted == [
        "woodwind: The time was over while the table was read, before anything could be learned. Give more time, or fewer rows or columns."
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


# ------------------------------------------------------------------------------------------------------- the clock


def test_what_no_model_can_do_without_may_be_a_little_late():
    time = Time()
    clock = Clock(10.0, now=time)
    time.pass_by(10.0 + 0.9 * LATE)
    clock.require("while nothing happened")
    time.pass_by(0.2 * LATE + 0.05 * 10.0)
    with pytest.raises(JobError, match="The time was over while nothing happened"):
        clock.require("while nothing happened")
    Clock().require("without a budget")


def test_a_share_of_the_time_ends_before_the_time_does():
    time = Time()
    clock = Clock(10.0, now=time)
    is_time = clock.is_time(0.1)
    assert is_time()
    time.pass_by(1.1)
    assert not is_time()
    late = clock.is_time(0.9)
    time.pass_by(8.8)
    assert late()
    time.pass_by(0.2)
    assert not late()
    assert Clock().is_time(0.1)()


def test_of_a_short_time_a_third_is_kept_for_the_end_and_what_is_reserved():
    time = Time()
    clock = Clock(1.0, now=time)
    assert clock.left_for_training == pytest.approx(0.65)
    clock.reserved = 0.2
    assert clock.left_for_training == pytest.approx(0.45)


# ------------------------------------------------------------------------------------------------------- columns


def columns_for(left, n_columns=10_000, seconds=0.001, monkeypatch=None):
    """The columns that there is time for, where each takes so many seconds."""
    time = Time()
    names = [f"x{number}" for number in range(n_columns)]
    monkeypatch.setattr(affordable, "_prepare", lambda X, threads: time.pass_by(seconds * len(X)))
    monkeypatch.setattr(affordable, "perf_counter", time)
    clock = Clock(1000.0, now=lambda: 0.0)
    clock.reserved = clock.left_for_training - left
    return affordable_columns(names, list, clock, 1)


def test_a_wide_table_goes_on_with_as_many_columns_as_there_is_time_for(monkeypatch):
    assert len(columns_for(100.0, monkeypatch=monkeypatch)) == 10_000  # ten seconds
    half = columns_for(12.0, monkeypatch=monkeypatch)
    assert len(half) == 5_000
    assert half == sorted(half, key=lambda name: int(name[1:]))
    assert set(columns_for(5.0, monkeypatch=monkeypatch)) <= set(half)
    assert len(columns_for(-1.0, monkeypatch=monkeypatch)) == 10_000 // 32
    assert len(columns_for(0.01, n_columns=4_000, monkeypatch=monkeypatch)) == 4_000  # not worth a look


def test_columns_that_there_was_no_time_for_are_told_and_do_not_matter_later(monkeypatch):
    monkeypatch.setattr(fit, "affordable_columns", lambda names, select, clock, threads: names[:2])
    model = woodwind.fit(TABLE, "y", models=1, threads=1)
    assert model.model_.schema.names == ("height", "width")
    assert any("There is time for 2 of 3 columns, which were drawn by chance" in note for note in model.facts_["made"]["notes"])
    with_all = model.predict_proba(TABLE)  # without a warning of columns that training never saw
    without = model.predict_proba({name: TABLE[name] for name in ("width", "height")})
    assert np.array_equal(with_all, without)


# ------------------------------------------------------------------------------------------------------- members


def test_neighbours_of_a_wide_matrix_are_given_up_where_there_is_no_time():
    rows = KnnRows(RNG.normal(size=(30, 300)), RNG.integers(0, 2, 30), np.ones(30), 2)
    assert relevance(rows, lambda: 1.0).shape == (300,)
    with pytest.raises(OutOfTimeError):
        relevance(rows, lambda: 0.0)


def test_a_net_is_not_begun_where_not_even_its_first_steps_have_time(monkeypatch):
    matrix, y = RNG.normal(size=(40, 6)), RNG.integers(0, 2, 40)
    monkeypatch.setattr(mlp_training, "OPERATIONS", 1.0)
    with pytest.raises(OutOfTimeError):
        mlp_training.train_mlp(matrix, y, None, 2, 0, lambda: 1.0)
    monkeypatch.setattr(mlp_training, "OPERATIONS", 1e12)
    monkeypatch.setattr(mlp_training, "SORTED", 1.0)
    with pytest.raises(OutOfTimeError):
        mlp_training.train_mlp(matrix, y, None, 2, 0, lambda: 1.0)
    monkeypatch.setattr(mlp_training, "SORTED", 1e-9)
    assert mlp_training.train_mlp(matrix, y, None, 2, 0, lambda: 0.3).n_columns == 6


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_linear_member_takes_smaller_strides_where_they_would_take_long(n_classes, monkeypatch):
    matrix = RNG.normal(size=(90, 5))
    y = matrix[:, 0] if not n_classes else np.digitize(matrix[:, 0], np.linspace(-0.5, 0.5, n_classes - 1)).astype(np.int32)
    usual = linear_training.train_linear(matrix, y, None, n_classes, 0, lambda: 1e9)
    hurried = linear_training.train_linear(matrix, y, None, n_classes, 0, lambda: 1.0)
    assert np.array_equal(usual.coef, hurried.coef)  # a small matrix takes no time
    assert linear_training._stride(1.0, lambda: 1.0) == linear_training.STRIDE
    assert linear_training._stride(1e9, lambda: 5.0) == 10
    monkeypatch.setattr(linear_training, "BY_VECTOR", 1.0)
    monkeypatch.setattr(linear_training, "BY_MATRIX", 1.0)
    assert np.isfinite(linear_training.train_linear(matrix, y, None, n_classes, 0, lambda: 1.0).coef).all()
