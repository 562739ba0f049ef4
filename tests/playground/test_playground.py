"""The page of the playground: its data is what the library predicts, its text is true of it, and it loads nothing."""

import base64
import json
import re
import shutil
import subprocess
import zlib
from functools import cache

import numpy as np
import pytest

from woodwind.cli.main import call
from woodwind.playground import surfaces
from woodwind.playground.page import page
from woodwind.playground.surfaces import BINS, LEVELS, N_TEST, N_TRAIN, ROUNDS, SIDE, drawn, ensemble, grid, run, settings

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
CASES = [("bagging", 2, None), ("forest", 4, None), ("adaboost", 1, 1.0), ("adaboost", 4, 0.3), ("boosting", 2, 0.3)]

run = cache(run)


@pytest.mark.parametrize(("method", "depth", "rate"), CASES)
def test_grids_errors_and_margins_are_those_of_the_ensemble_of_so_many_trees(method, depth, rate):
    """Stages are the ensemble with its first trees: the last one is the trained model itself, and another is one trained with fewer."""
    found = run("moons", 0.1, method, depth, rate)
    train, test = drawn("moons", N_TRAIN, 0.1, 0), drawn("moons", N_TEST, 0.0, 1)
    for place in (4, len(ROUNDS) - 1):
        model = ensemble(method, depth, rate, ROUNDS[place]).fit(train.X, train.y)
        proba = model.predict_proba(grid())[:, 1]
        assert np.abs(found.grids[place].ravel() / LEVELS - proba).max() <= 0.5 / LEVELS + 1e-9
        assert found.train[ROUNDS[place] - 1] == np.mean(model.predict(train.X) != train.y)
        assert found.test[ROUNDS[place] - 1] == np.mean(model.predict(test.X) != test.y)
        own = model.predict_proba(train.X)
        margin = own[np.arange(N_TRAIN), train.y] - own[np.arange(N_TRAIN), 1 - train.y]
        assert found.margins[place].tolist() == np.histogram(margin, BINS, (-1.0, 1.0))[0].tolist()


@pytest.mark.parametrize("table", surfaces.TABLES)
def test_tables_are_within_the_picture_and_noise_turns_labels_round(table):
    plain, noisy = drawn(table, 1000, 0.0, 0), drawn(table, 1000, 0.25, 0)
    assert np.abs(plain.X).max() <= 1.0
    assert (plain.X == noisy.X).all()
    assert 0.2 < (plain.y != noisy.y).mean() < 0.3
    assert 0.3 < plain.y.mean() < 0.7


def test_the_text_is_true_of_the_data():
    """What the page tells people to look for can be seen there."""
    # Boosting lowers bias: many cuts, each straight, do what one cannot.
    stumps = run("moons", 0.0, "adaboost", 1, 1.0)
    assert stumps.test[-1] < 0.5 * stumps.test[0]
    # Bagging does not: sixty stumps are hardly better than one.
    bag = run("rings", 0.0, "bagging", 1, None)
    assert bag.test[-1] > 0.8 * bag.test[0]
    # Averaging deep trees helps, and more trees do not hurt.
    deep = run("rings", 0.1, "forest", 4, None)
    assert deep.test[-1] < deep.test[0] - 0.05
    assert deep.test[-1] <= deep.test[20] + 0.02
    # A large learning rate, deep trees and noise overfit.
    steep = run("moons", 0.25, "boosting", 4, 1.0)
    assert steep.train[-1] < 0.01
    assert steep.test[-1] > steep.test.min() + 0.03
    noisy = run("moons", 0.25, "adaboost", 4, 1.0)
    assert noisy.train[-1] < noisy.train[0]
    assert noisy.test[-1] > noisy.test.min() + 0.03


def small():
    """A page with one run for each setting of a table, all of them the same ensemble: quick."""
    one = run("moons", 0.1, "adaboost", 1, 1.0)
    fields = {name: getattr(one, name) for name in ("grids", "train", "test", "margins")}
    return page(surfaces.Run(*setting, **fields) for setting in settings(("moons",)))


def test_the_page_holds_everything_and_refers_to_nothing():
    text = small()
    assert re.findall(r"(?:src|href)=\"(?!data:,)|url\(|@import", text) == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    assert "default-src 'none'" in text
    assert re.findall(r"innerHTML|document\.write|eval\(|fetch\(|/\* \w+ \*/", text) == []
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', text).group(1))
    grids = zlib.decompress(base64.b64decode(re.search(r'id="grids">(.*?)</script>', text).group(1)))
    assert len(facts["runs"]) == len(settings(("moons",))) == 72
    assert len(grids) == 72 * len(ROUNDS) * SIDE * SIDE
    assert len(facts["points"]["moons 0.25"]) == N_TRAIN


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [500, 1280])
def test_the_page_draws_without_a_complaint(width, tmp_path):
    (tmp_path / "page.html").write_text(small(), encoding="utf-8")
    command = [BROWSER, *QUIET, f"--window-size={width},900", f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr",
               "--virtual-time-budget=10000", "--dump-dom", (tmp_path / "page.html").as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert [line for line in done.stderr.splitlines() if ":CONSOLE" in line] == []
    assert 'data-ready="yes"' in done.stdout
    assert "AdaBoost, 10 trees of depth 1." in done.stdout
    assert done.stdout.count('class="line ') == 2
    assert len(re.findall(r'<rect class="(?:bad|good)"', done.stdout)) == BINS


def test_the_command_writes_a_page_and_overwrites_nothing_else(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("woodwind.cli.commands.playground.runs", lambda tell: iter([run("moons", 0.1, "adaboost", 1, 1.0)]))
    (tmp_path / "notes.html").write_text("mine", encoding="utf-8")
    assert call(["playground", "-o", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert call(["playground", "-o", str(tmp_path / "page.html")]) == 0
    assert call(["playground", "-o", str(tmp_path / "notes.html")]) == 2
    assert (tmp_path / "notes.html").read_text(encoding="utf-8") == "mine"
    assert "is there already" in capsys.readouterr().err
