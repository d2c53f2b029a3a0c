"""A file appears as a whole, or what was there stays; what is left is cleared away."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import bestcut
from bestcut._writing import writing
from layers import SRC

LEFT = """
import os, signal, sys
from bestcut._writing import writing

with writing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "full"), MemoryError])
def test_what_goes_wrong_while_writing_leaves_the_old_file(tmp_path, error):
    (tmp_path / "y.csv").write_text("old", encoding="utf-8")

    def write():
        with writing(str(tmp_path / "y.csv")) as file:
            file.write(b"new")
            raise error

    with pytest.raises((KeyboardInterrupt, bestcut.FileError, MemoryError)):
        write()
    assert os.listdir(tmp_path) == ["y.csv"]
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == "old"


def test_an_interruption_while_the_file_is_made_leaves_nothing(tmp_path, monkeypatch):
    really_open = os.open

    def interrupted(*args, **kwargs):
        os.close(really_open(*args, **kwargs))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", interrupted)
    with pytest.raises(KeyboardInterrupt), writing(str(tmp_path / "out")):
        pass
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []


def test_a_place_that_can_only_be_read_is_named(tmp_path, monkeypatch):
    def refused(*args, **kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(os, "unlink", refused)  # even of a file that is not there
    message = r"y\.csv: could not be written \(Read-only file system\)\. No file was"
    with (
        pytest.raises(bestcut.FileError, match=message),
        writing(str(tmp_path / "y.csv")),
    ):
        pass


def test_permissions_stay_but_not_those_to_act_as_another_user(tmp_path):
    (tmp_path / "y.csv").write_text("old", encoding="utf-8")
    for mode, kept in ((0o640, 0o640), (0o7755, 0o755)):
        (tmp_path / "y.csv").chmod(mode)
        with writing(str(tmp_path / "y.csv")) as file:
            file.write(b"new")
        assert stat.S_IMODE((tmp_path / "y.csv").stat().st_mode) == kept


def test_the_next_run_to_a_path_removes_what_a_killed_process_left(tmp_path):
    target = tmp_path / "y.csv"
    target.write_text("old", encoding="utf-8")
    command = [sys.executable, "-c", LEFT, str(target)]
    run = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(SRC.parent)}, check=False
    )
    assert run.returncode == -signal.SIGKILL
    (left,) = set(os.listdir(tmp_path)) - {"y.csv"}
    assert left.startswith(".bestcut-")
    assert target.read_text(encoding="utf-8") == "old"
    with writing(str(tmp_path / "another.csv")):
        pass
    assert left in os.listdir(tmp_path)
    with writing(str(target)) as file:
        file.write(b"new")
    assert sorted(os.listdir(tmp_path)) == ["another.csv", "y.csv"]
    assert target.read_text(encoding="utf-8") == "new"


def test_runs_to_one_path_at_once_do_not_disturb_each_other(tmp_path):
    target = tmp_path / "y.csv"
    with writing(str(target)) as first:
        first.write(b"first")
        with writing(str(target)) as second:
            second.write(b"second")
            assert not target.exists()
        assert target.read_text(encoding="utf-8") == "second"
    assert target.read_text(encoding="utf-8") == "first"
    assert os.listdir(tmp_path) == ["y.csv"]


def test_a_part_that_another_run_takes_for_left_is_made_again(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    really_lock, others = fcntl.flock, []

    def slow(descriptor, how):  # another run comes between making and locking
        if not others:
            others.append(how)
            with writing(str(tmp_path / "y.csv")) as file:
                file.write(b"other")
        really_lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", slow)
    with writing(str(tmp_path / "y.csv")) as file:
        file.write(b"mine")
        assert (tmp_path / "y.csv").read_text(encoding="utf-8") == "other"
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == "mine"
    assert os.listdir(tmp_path) == ["y.csv"]


def test_a_link_with_the_name_of_a_part_is_not_followed(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    with writing(str(folder / "y.csv")):
        (part,) = os.listdir(folder)
    (tmp_path / "precious").write_text("kept", encoding="utf-8")
    (folder / part).symlink_to(tmp_path / "precious")
    os.mkfifo(folder / part.replace(".part", "0.part"))
    with writing(str(folder / "y.csv")) as file:
        file.write(b"new")
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "kept"
    assert (folder / "y.csv").read_text(encoding="utf-8") == "new"


def test_a_link_of_another_user_in_a_shared_folder_is_not_followed(
    tmp_path, monkeypatch
):
    shared, own = tmp_path / "shared", tmp_path / "own"
    for folder in (shared, own):
        folder.mkdir()
    (own / "precious.csv").write_text("old", encoding="utf-8")
    link = shared / "y.csv"
    link.symlink_to(own / "precious.csv")
    really = os.lstat

    def of_another_user(path, **options):
        found = really(path, **options)
        if os.fspath(path) != str(link):
            return found
        return os.stat_result([*found[:4], found.st_uid + 1, *found[5:10]])

    def write():
        with writing(str(link)) as file:
            file.write(b"new")

    shared.chmod(0o1777)
    write()  # a link of one's own
    assert (own / "precious.csv").read_text(encoding="utf-8") == "new"
    monkeypatch.setattr(os, "lstat", of_another_user)
    with pytest.raises(
        bestcut.FileError, match=r"is a link that another user made.*itself"
    ):
        write()
    first = shared / "first.csv"
    first.symlink_to("y.csv")  # a link of one's own to that link
    with (
        pytest.raises(bestcut.FileError, match="is a link that another user made"),
        writing(str(first)),
    ):
        pass
    assert (own / "precious.csv").read_text(encoding="utf-8") == "new"
    shared.chmod(0o755)
    write()  # nobody else can have put it here
    assert sorted(os.listdir(shared)) == ["first.csv", "y.csv"]


def test_threads_that_write_at_once_leave_the_umask_alone(tmp_path, monkeypatch):
    """The umask belongs to the process: a file may become one that all may write."""
    umask = os.umask

    def slowly(mask):  # as on a busy machine, another thread runs in between
        before = umask(mask)
        time.sleep(0.002)
        return before

    def write(i):
        with writing(str(tmp_path / f"{i}.csv")) as file:
            file.write(b"new")

    old = umask(0o027)
    try:
        monkeypatch.setattr("os.umask", slowly)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(20)))
        monkeypatch.undo()
        assert umask(0o027) == 0o027
    finally:
        umask(old)
    modes = {stat.S_IMODE(os.stat(path).st_mode) for path in tmp_path.iterdir()}
    assert modes == {0o640}
