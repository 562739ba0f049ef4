"""Where compiled kernels are cached, and whose files are read: they are code."""

import hashlib
import os
import sys
import time
from pathlib import Path

import pytest

from woodwind.kernels.runtime import cache, private
from woodwind.kernels.runtime.cache import Home

STATE = "0" * 32
modes = pytest.mark.skipif(os.name == "nt", reason="file modes")
superuser = pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only the superuser can give files away")


@pytest.fixture
def base(tmp_path, monkeypatch):
    """The folder that the user asks for; the next one to be tried is `own` beside it."""
    base = tmp_path / "asked"
    monkeypatch.setenv("WOODWIND_CACHE_DIR", str(base))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    return base


def found(state=STATE):
    home, complaint = cache.find_home(state)
    assert complaint == ""
    return home


def refused(base):
    """The complaint about a folder that is not used."""
    home, complaint = cache.find_home(STATE)
    assert home is not None
    assert home.path.parent != base
    assert complaint.startswith("WOODWIND_CACHE_DIR=")
    assert complaint.endswith(f"Until it names a folder of your own that only you may write to, kernels are cached in {home.path.parent}.")
    return complaint


def test_what_is_missing_or_damaged_is_not_read(base):
    home = found()
    file = home.path / "kernel"
    assert cache.read(home, "kernel") is None
    cache.write(home, "kernel", b"payload")
    assert cache.read(home, "kernel") == b"payload"
    content = file.read_bytes()
    for place in range(len(content)):
        file.write_bytes(content[:place])
        assert cache.read(home, "kernel") is None
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert cache.read(home, "kernel") is None
    file.write_bytes(content + b"x")
    assert cache.read(home, "kernel") is None
    assert list(home.path.iterdir()) == [file]


def test_every_process_of_a_user_has_the_same_key_and_every_folder_its_own(base, tmp_path, monkeypatch):
    first = found()
    assert found() == first
    assert found("1" * 32).key == first.key
    monkeypatch.setenv("WOODWIND_CACHE_DIR", str(tmp_path / "another"))
    assert found().key != first.key


def test_a_file_under_the_name_of_another_is_not_read(base):
    home, other = found(), found("1" * 32)
    cache.write(home, "kernel", b"payload")
    content = (home.path / "kernel").read_bytes()
    for path in (home.path / "another", other.path / "kernel"):
        path.write_bytes(content)
        path.chmod(0o600)
    assert cache.read(home, "another") is None
    assert cache.read(other, "kernel") is None


@modes
@pytest.mark.parametrize("open_to", [0o770, 0o707, 0o1777])
@pytest.mark.parametrize("which", ["base", "home"])
def test_a_folder_that_others_may_write_to_is_refused_and_what_was_in_it_is_never_read_again(base, which, open_to):
    home = found()
    cache.write(home, "kernel", b"payload")
    folder = base if which == "base" else home.path
    folder.chmod(open_to)
    assert f"others may write to {folder} (chmod go-w makes it private; what is in it now is not used)" in refused(base)
    folder.chmod(0o700)
    again = found()
    assert again.path == home.path
    assert cache.read(again, "kernel") is None
    assert (home.path / "kernel").exists()  # it is not ours to remove: it may be somebody else's
    cache.write(again, "kernel", b"new")
    assert cache.read(again, "kernel") == b"new"


@modes
def test_a_file_planted_while_nobody_looked_is_not_read_after_the_folder_is_closed(base):
    home = found()
    base.chmod(0o777)
    home.path.chmod(0o777)
    payload = b"somebody else's code"
    foreign = Home(home.path, b"k" * private.KEY_SIZE)
    planted = {
        "checksum": b"woodwind kernel 1\n" + hashlib.sha256(payload).digest() + payload,
        "unkeyed": cache.HEAD + hashlib.sha256(payload).digest() + payload,
        "sealed": cache.HEAD + cache._seal(foreign, "sealed", payload) + payload,
    }
    for name, content in planted.items():
        (home.path / name).write_bytes(content)
    base.chmod(0o700)
    home.path.chmod(0o700)
    again = found()
    assert again == home
    assert [cache.read(again, name) for name in planted] == [None] * 3


@modes
def test_nothing_is_written_to_or_read_from_a_folder_that_was_opened_meanwhile(base):
    home = found()
    cache.write(home, "kernel", b"payload")
    home.path.chmod(0o777)
    assert cache.read(home, "kernel") is None
    with pytest.raises(private.NotPrivateError, match="others may write to"):
        cache.write(home, "more", b"payload")
    assert [path.name for path in home.path.iterdir()] == ["kernel"]


@modes
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to_is_not_read(base, mode):
    home = found()
    cache.write(home, "kernel", b"payload")
    (home.path / "kernel").chmod(mode)
    assert cache.read(home, "kernel") is None


@modes
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_key_that_others_may_have_read_is_replaced(base, mode):
    home = found()
    cache.write(home, "kernel", b"payload")
    (base / private.KEY_FILE).chmod(mode)
    again = found()
    assert again.key != home.key
    assert cache.read(again, "kernel") is None
    assert (base / private.KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert found() == again


@pytest.mark.parametrize("content", [b"", private.KEY_HEAD[:5], private.KEY_HEAD + b"short", private.KEY_HEAD + bytes(99)])
def test_a_damaged_key_is_replaced(base, content):
    home = found()
    (base / private.KEY_FILE).write_bytes(content)
    assert found().key not in (home.key, b"")
    assert len(found().key) == private.KEY_SIZE


def test_a_file_of_the_users_that_is_called_as_the_key_is_left_alone(base):
    base.mkdir(mode=0o700)
    (base / private.KEY_FILE).write_bytes(b"keep me")
    assert f"{base / private.KEY_FILE} is not a key that you have: remove it" in refused(base)
    assert (base / private.KEY_FILE).read_bytes() == b"keep me"


@modes
@pytest.mark.parametrize("name", [private.KEY_FILE, "kernel"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_regular_file_is_read_and_nothing_is_waited_for(base, tmp_path, kind, name):
    home = found()
    cache.write(home, "kernel", b"payload")
    path = (base if name == private.KEY_FILE else home.path) / name
    kept = path.rename(tmp_path / "kept")
    if kind == "link":
        path.symlink_to(kept)
    elif kind == "pipe":
        os.mkfifo(path, 0o600)
    else:
        path.mkdir(mode=0o700)
    if name == "kernel":
        assert cache.read(home, "kernel") is None
    else:
        assert private.KEY_FILE in refused(base)
    assert path.lstat()


@modes
def test_a_link_to_a_folder_is_not_followed(base, tmp_path):
    home = found()
    moved = base.rename(tmp_path / "moved")
    base.symlink_to(moved)
    assert f"{base} is not a folder, or is a link to one" in refused(base)
    base.unlink()
    moved.rename(base)
    elsewhere = home.path.rename(tmp_path / "elsewhere")
    home.path.symlink_to(elsewhere)
    assert f"{home.path} is not a folder, or is a link to one" in refused(base)


@superuser
@pytest.mark.parametrize("which", ["base", "home", "key"])
def test_what_belongs_to_another_user_is_refused(base, which):
    home = found()
    path = {"base": base, "home": home.path, "key": base / private.KEY_FILE}[which]
    os.chown(path, 12345, 12345)
    assert {"key": "is not a key that you have"}.get(which, f"{path} belongs to another user") in refused(base)
    assert path.stat().st_uid == 12345


@superuser
def test_nothing_is_left_in_the_home_directory_of_another_user(tmp_path, monkeypatch):
    user = tmp_path / "user"
    user.mkdir()
    os.chown(user, 12345, 12345)
    for name, value in (("HOME", str(user)), ("XDG_CACHE_HOME", ""), ("WOODWIND_CACHE_DIR", "")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path))
    assert found().path.parent == tmp_path / f"woodwind-{os.getuid()}"
    assert list(user.iterdir()) == []


@superuser
def test_a_file_of_another_user_is_not_read_even_if_it_is_sealed(base):
    home = found()
    cache.write(home, "kernel", b"payload")
    os.chown(home.path / "kernel", 12345, 12345)
    assert cache.read(home, "kernel") is None


@modes
def test_files_and_folders_are_for_nobody_else_whatever_the_mask(base):
    before = os.umask(0)
    try:
        home = found()
        cache.write(home, "kernel", b"payload")
        cache.claim(home, "kernel")
        cache.disclaim(home, "kernel")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (base, home.path)] == [0o700, 0o700]
    assert {path.stat().st_mode & 0o777 for path in [*base.glob("*.*"), home.path / "kernel"]} == {0o600}
    assert len(list(base.iterdir())) == 3  # the key, the lock and the folder of this state


def ask(monkeypatch, text):
    monkeypatch.setenv("WOODWIND_CACHE_DIR", text)
    return cache.find_home(STATE)


@pytest.mark.parametrize("text", ["", " ", "\t"])
def test_an_empty_variable_asks_for_nothing(base, tmp_path, monkeypatch, text):
    home, complaint = ask(monkeypatch, text)
    assert complaint == ""
    assert home is not None
    assert not base.exists()


@modes
def test_a_home_directory_that_is_not_there_is_named(base, monkeypatch):
    home, complaint = ask(monkeypatch, "~nosuchuser/x")
    assert home is not None
    assert complaint.startswith("WOODWIND_CACHE_DIR=~nosuchuser/x is not used: there is no home directory ~nosuchuser. Until it names ")


def test_a_tilde_is_the_home_directory(base, tmp_path, monkeypatch):
    user = tmp_path / "user"
    user.mkdir(mode=0o755)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(user))
    for text, place in (("~", user), ("~/cache", user / "cache")):
        home, complaint = ask(monkeypatch, text)
        assert (home.path.parent, complaint) == (place, "")


def test_a_relative_path_is_below_the_working_directory(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home, complaint = ask(monkeypatch, "some/where")
    assert (home.path.parent, complaint) == (tmp_path / "some" / "where", "")
    monkeypatch.chdir("/")
    cache.write(home, "kernel", b"payload")  # and stays where it was
    assert cache.read(home, "kernel") == b"payload"


@modes
def test_a_working_directory_that_is_gone_is_named(base, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    home, complaint = ask(monkeypatch, "here")
    assert home is not None
    assert "WOODWIND_CACHE_DIR=here is not used: the working directory is gone. Until" in complaint


def test_a_file_in_place_of_the_folder_is_named_and_left_alone(base):
    base.write_text("mine")
    assert f"is not used: {base} is not a folder." in refused(base)
    assert base.read_text() == "mine"


def test_a_name_that_is_too_long_is_named(base, monkeypatch):
    monkeypatch.setenv("WOODWIND_CACHE_DIR", str(base / ("x" * 300)))
    assert " is not used: File name too long (" in refused(base)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a place where nobody can write, not even the superuser")
def test_a_place_where_nothing_can_be_written_is_named(base, monkeypatch):
    monkeypatch.setenv("WOODWIND_CACHE_DIR", "/proc/woodwind")
    assert "WOODWIND_CACHE_DIR=/proc/woodwind is not used: " in refused(base)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names of any bytes")
def test_a_name_of_any_bytes_will_do(base, tmp_path, monkeypatch):
    name = os.fsdecode(b"caf\xe9 \xff")
    home, complaint = ask(monkeypatch, str(tmp_path / name))
    assert (home.path.parent, complaint) == (tmp_path / name, "")
    cache.write(home, "kernel", b"payload")
    assert cache.read(home, "kernel") == b"payload"


def test_without_any_place_it_says_that_nothing_is_kept(base, tmp_path, monkeypatch):
    blocker = tmp_path / "file"
    blocker.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))
    monkeypatch.setattr(cache.tempfile, "tempdir", str(blocker))
    monkeypatch.setattr(cache, "_user_cache", lambda: blocker)
    home, complaint = ask(monkeypatch, str(blocker))
    assert home is None
    assert complaint.endswith("only you may write to, kernels are not cached.")


def month_old(path):
    month = time.time() - 31 * 86400
    os.utime(path, (month, month))


def test_old_directories_are_swept_when_a_new_one_is_made(base):
    old, recent = found("a" * 32), found("b" * 32)
    cache.write(old, f"kernel-{STATE}", b"payload")
    (old.path / f"kernel-{STATE}.0123456789ab.tmp").touch()  # of a process that was killed
    month_old(old.path)
    new = found("c" * 32)
    assert sorted(base.glob("kernels-*")) == sorted([recent.path, new.path])
    month_old(recent.path)
    assert time.time() - found("b" * 32).path.stat().st_mtime < 3600  # a directory in use is marked as such
    for number in range(cache.MOST_DIRECTORIES + 3):
        found(f"{number:032d}")
    assert len(list(base.glob("kernels-*"))) <= cache.MOST_DIRECTORIES + 1


def test_nothing_but_our_own_files_is_ever_swept(base, tmp_path):
    old = found("a" * 32)
    cache.write(old, f"kernel-{STATE}", b"payload")
    mine = [base / "mine" / "thesis", base / "kernels-linux" / "config", old.path / "thesis", tmp_path / "elsewhere" / f"kernel-{STATE}"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        month_old(path.parent)
    link = base / f"kernels-{'d' * 32}"
    link.symlink_to(tmp_path / "elsewhere")
    os.utime(link, (0, 0), follow_symlinks=False)
    found("c" * 32)
    assert [path.read_text() for path in mine] == ["mine"] * 4
    assert link.is_symlink()
    assert not (old.path / f"kernel-{STATE}").exists()


def test_where_folders_have_no_descriptors_names_will_do(base, monkeypatch):
    monkeypatch.setattr(os, "supports_dir_fd", set())
    home = found()
    cache.write(home, f"kernel-{STATE}", b"payload")
    assert cache.read(found(), f"kernel-{STATE}") == b"payload"
    base.rename(base.with_name("moved"))
    base.symlink_to(base.with_name("moved"))
    assert f"{base} is not a folder" in refused(base)
    base.unlink()
    base.with_name("moved").rename(base)
    month_old(home.path)
    found("1" * 32)
    assert not home.path.exists()
