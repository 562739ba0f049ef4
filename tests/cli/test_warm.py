"""woodwind warm: that what it trains can be trained. Compiling all of it takes minutes; the demo does that."""

import numpy as np

import woodwind
from woodwind.cli.commands import warm
from woodwind.data.reading.files import read_table


def test_its_table_has_something_of_everything(tmp_path):
    (tmp_path / "table.csv").write_text(warm.table_text(60), encoding="utf-8")
    table = read_table(tmp_path / "table.csv")
    kinds = {name: str(table[name].type) for name in table.column_names}
    assert kinds["level"] == "string"
    assert "date" in kinds["day"] or "timestamp" in kinds["day"]
    assert table["more"].null_count > 0
    assert len(table["two"].unique()) == 2
    assert len(table["three"].unique()) == 3


def test_its_estimators_are_there_and_can_be_trained():
    for name in (*warm.FORESTS, "GradientBoosting", "DecisionTree", "DynamicSelection"):
        assert hasattr(woodwind, f"{name}Classifier")
        assert hasattr(woodwind, f"{name}Regressor")
    for options in warm.BOOSTING:
        woodwind.GradientBoostingRegressor(n_estimators=1, **options).fit(np.arange(20.0)[:, None], np.arange(20.0))


def test_it_says_what_was_compiled_and_where_it_is(run, monkeypatch):
    monkeypatch.setattr(warm, "job_steps", lambda folder: iter(["a job"]))
    done = run("warm", "--only-job")
    assert done.code == 0
    assert done.err.splitlines()[-1].endswith("s  a job")
    assert "kernels compiled" in done.out
