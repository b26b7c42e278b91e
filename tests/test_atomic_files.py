"""A file is whole or not there: killed at any step, written by two, or by none that may."""

import os
from pathlib import Path

import pytest

from tacit import fit, synthetic
from tacit.atomic_files import atomic, write_atomically


def test_what_was_there_stays_until_the_new_is_whole(tmp_path):
    place = tmp_path / "model"
    place.write_bytes(b"old")
    with atomic(place) as partial:
        partial.write_bytes(b"ne")
        assert place.read_bytes() == b"old"
        partial.write_bytes(b"new")
    assert place.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_raises_leaves_nothing_behind(tmp_path, error):
    place = tmp_path / "model"
    place.write_bytes(b"old")

    def crash():
        with atomic(place) as partial:
            partial.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        crash()
    assert place.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("name", ["bias", "popularity"])
def test_an_interrupted_save_leaves_the_earlier_model(tmp_path, monkeypatch, name):
    scale = "1:5:1" if name == "bias" else "there"
    fitted, place = fit(name, synthetic(60, 50, 1200, scale=scale)), tmp_path / "model"
    fitted.save(place)
    before = place.read_bytes()

    def interrupted(file, **arrays):
        file.write(b"PK")
        raise KeyboardInterrupt

    monkeypatch.setattr("numpy.savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted.save(place)
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]


def test_it_is_on_disk_before_it_has_its_name_and_the_name_after(tmp_path, monkeypatch):
    """Else a power cut may leave the name with an empty file."""
    place, done = tmp_path / "model", []
    synced, renamed = os.fsync, Path.replace
    monkeypatch.setattr(
        os, "fsync", lambda f: (done.append(os.readlink(f"/proc/self/fd/{f}")), synced(f))
    )
    monkeypatch.setattr(Path, "replace", lambda self, to: (done.append("named"), renamed(self, to)))
    write_atomically(place, b"new")
    partial, *rest = done
    assert Path(partial).name.endswith("-model")
    assert rest == ["named", str(tmp_path)]


def test_two_writers_do_not_write_into_one_file(tmp_path):
    """The first to begin ends last: its bytes are in place, whole."""
    place = tmp_path / "model"
    with atomic(place) as first:
        first.write_bytes(b"first")
        write_atomically(place, b"2nd")
        assert place.read_bytes() == b"2nd"
    assert place.read_bytes() == b"first"


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_atomically(tmp_path / "none" / "model", b"")


def test_a_private_file_is_never_readable_by_others(tmp_path):
    place = tmp_path / "state"
    with atomic(place, private=True) as partial:
        assert partial.stat().st_mode & 0o777 == 0o600
        partial.write_bytes(b"secret")
    assert place.stat().st_mode & 0o777 == 0o600


def test_private_partial_files_of_a_killed_process_are_deleted_after_a_day(tmp_path):
    place, other = tmp_path / "back[up].db", tmp_path / "part-11-other.db"
    old = [tmp_path / f"part-00-back[up].db{ending}" for ending in ("", "-wal")]
    new = tmp_path / "part-22-back[up].db"
    for path in (*old, other, new):
        path.write_bytes(b"secret")
    for path in (*old, other):
        os.utime(path, (0, 0))
    write_atomically(place, b"whole", private=True)
    assert sorted(tmp_path.iterdir()) == sorted([place, other, new])
