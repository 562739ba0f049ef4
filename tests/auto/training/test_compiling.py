"""Families whose kernels are not compiled yet begin only where there is time for that."""

from woodwind.auto.clock import Clock
from woodwind.auto.training import affordable
from woodwind.auto.training.affordable import COMPILING, is_time_to_compile


def grow():
    """Stands for a kernel."""


def test_what_is_kept_can_be_used_at_any_time(monkeypatch, tmp_path):
    monkeypatch.setattr(affordable, "home", lambda: tmp_path)
    short, long = Clock(COMPILING / 2), Clock(COMPILING * 10)
    assert not is_time_to_compile(grow, short)
    assert is_time_to_compile(grow, long)
    assert is_time_to_compile(grow, Clock())
    (tmp_path / "grow-1234").touch()
    assert is_time_to_compile(grow, short)
    assert not is_time_to_compile(grow, short, variants=2)


def test_where_nothing_is_kept_nothing_is_known(monkeypatch):
    monkeypatch.setattr(affordable, "home", lambda: None)
    assert is_time_to_compile(grow, Clock(1.0))
