"""woodwind explain: text, picture, numbers."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from models import table

from woodwind.auto.shap import explain_model


@pytest.fixture
def new(folder):
    pa.csv.write_csv(table(6), folder / "new.csv")
    return folder


def test_a_row_is_explained_in_words(new, stored, run):
    done = run("explain", "model.ww", "new.csv", "--row", "2")
    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0].startswith("log-odds of yes")
    assert any("plan = gold" in line for line in lines[1:])
    assert "1 other column" in run("explain", "model.ww", "new.csv", "--row", "2", "--top", "1").out


def test_without_a_row_comes_first_what_all_have_in_common_and_then_a_few(new, stored, run):
    done = run("explain", "model.ww", "new.csv")
    assert done.out.splitlines()[0] == "mean size of what a column brings, over 6 rows:"
    assert done.out.count("log-odds of yes") == 3
    assert done.out.splitlines()[-1] == "... and 3 more rows"
    assert done.err == "--row N tells of one row alone, --json of all.\n"
    pa.csv.write_csv(table(300), new / "many.csv")
    done = run("explain", "model.ww", "many.csv")
    assert done.out.splitlines()[0] == "mean size of what a column brings, over 200 rows:"
    assert len(done.out.splitlines()) < 24  # one screen
    assert done.err == "The first 200 of 300 rows are explained; --row N explains another.\n"
    pa.csv.write_csv(table(4), new / "few.csv")
    done = run("explain", "model.ww", "few.csv")
    assert (done.out.count("log-odds of yes"), done.err) == (4, "")


@pytest.mark.parametrize("stored", ["binary", "multiclass", "regression"], indirect=True)
def test_numbers_add_up(new, stored, run):
    found = json.loads(run("explain", "model.ww", "new.csv", "--json").out)
    assert found["exact_share"] == 1.0
    assert [row["row"] for row in found["rows"]] == [1, 2, 3, 4, 5, 6]
    expected = explain_model(stored, table(6))
    for row, scores in zip(found["rows"], expected.scores, strict=True):
        total = np.array(found["base"]) + np.sum([row["columns"][name] for name in ("age", "plan", "paid")], axis=0)
        np.testing.assert_allclose(total, scores, atol=1e-9)
        np.testing.assert_allclose(row["score"], scores, atol=1e-12)


def test_a_picture_is_a_page(new, stored, run):
    done = run("explain", "model.ww", "new.csv", "--row", "3", "-o", "picture.html")
    assert done.err == "picture in picture.html\n"
    assert "<svg" in (new / "picture.html").read_text(encoding="utf-8")
    assert run("explain", "model.ww", "new.csv", "-o", "picture.html").code == 2  # it may be a report
    assert run("explain", "model.ww", "new.csv", "-o", "picture.html", "--force").code == 0


WRONG = [
    (["explain", "model.ww"], 2, "Missing argument 'TABLE'"),
    (["explain", "model.ww", "nwe.csv"], 2, "Did you mean 'new.csv'?"),
    (["explain", "new.csv", "model.ww"], 2, "is a model file. Give a table"),
    (["explain", "new.csv", "new.csv"], 4, "not a Woodwind model file"),
    (["explain", "model.ww", "train.csv"], 3, ""),
    (["explain", "model.ww", "new.csv", "--row", "7"], 2, "has 6 rows"),
    (["explain", "model.ww", "new.csv", "--row", "0"], 2, "a whole number, 1 at least"),
    (["explain", "model.ww", "new.csv", "-o", "train.csv"], 2, "does not end in .html"),
    (["explain", "model.ww", "new.csv", "-o", "why.txt"], 2, "does not end in .html"),
    (["explain", "model.ww", "new.csv", "-o", "there.html"], 2, "is there already. Choose another name with -o, or add --force"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_a_wrong_call_ends_with_one_line_that_says_what_to_do(new, stored, run, arguments, code, words):
    (new / "train.csv").write_text("age\n3\n", encoding="utf-8")
    (new / "there.html").write_text("<!doctype html>Woodwind", encoding="utf-8")
    done = run(*arguments)
    assert done.code == code, done.err
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert words in line
