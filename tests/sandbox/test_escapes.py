"""Nothing that a command tries gets it out of its cell: neither as root nor as an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from .escapes import ESCAPES, attempt

ORDINARY = 31_000 + os.getpid() % 9_000
"""A user that nobody else is."""
HAS_BUBBLEWRAP = shutil.which("bwrap") is not None
"""Where scripts/workflow_tools.sh could install it; it refuses to run anything as root."""
WAYS = (
    *(("root",) if os.geteuid() == 0 else ()),
    "ordinary",
    *(("bubblewrap",) if HAS_BUBBLEWRAP else ()),
)
NEEDED = ("__init__.py", "errors.py", "version.py", "model", "settings", "sandbox")
Found = dict[str, dict[str, object]]


@dataclass
class Outside:
    """What lies outside of the cells."""

    folder: Path
    given: dict[str, str]
    parent: subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    with (
        tempfile.TemporaryDirectory(prefix="dyno-escapes-") as name,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "secret").write_text("the secret of DYNO_TEST_SECRET\n")
        (folder / "open").mkdir(mode=0o777)
        (folder / "open").chmod(0o777)
        abstract.bind(f"\0{folder.name}")
        abstract.listen()
        parent = subprocess.Popen(["sleep", "300"], env={"DYNO_TEST_SECRET": "1", "PATH": os.environ["PATH"]})
        given = {
            "secret": str(folder / "secret"),
            "outside": str(folder / "open"),
            "parent": str(parent.pid),
            "port": str(server.getsockname()[1]),
            "abstract": folder.name,
        }
        try:
            yield Outside(folder, given, parent)
        finally:
            parent.kill()
            parent.wait()


@pytest.fixture(scope="module", params=WAYS)
def found(request: pytest.FixtureRequest, outside: Outside) -> Found:
    isolation = "bubblewrap" if request.param == "bubblewrap" else "namespaces"
    if request.param == "root" or os.geteuid() != 0:
        return attempt(isolation, outside.given)
    return _as_ordinary_user(outside, isolation)


def _as_ordinary_user(outside: Outside, isolation: str) -> Found:
    """In a process of a user that is made for it, with copies of our files that it may read."""
    place = outside.folder / isolation
    source = Path(__file__).parents[2] / "src" / "agentdyno"
    (place / "agentdyno").mkdir(parents=True)
    for name in NEEDED:
        copy = shutil.copytree if (source / name).is_dir() else shutil.copy
        copy(source / name, place / "agentdyno" / name)
    shutil.copy(Path(__file__).with_name("escapes.py"), place / "escapes.py")
    subprocess.run(["chmod", "-R", "a+rX", str(place)], check=True)
    done = subprocess.run(
        [_readable_python(), str(place / "escapes.py"), isolation, json.dumps(outside.given)],
        cwd="/",
        env={"PYTHONPATH": str(place), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        user=ORDINARY,
        group=ORDINARY,
        extra_groups=[],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    result: Found = json.loads(done.stdout)
    return result


def _readable_python() -> str:
    """An interpreter that every user may start: ours may lie in somebody's home folder."""
    for program in (os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
        tried = subprocess.run(
            ["/bin/sh", "-c", f"exec {program} -c 'import asyncio, ctypes'"],
            user=ORDINARY,
            group=ORDINARY,
            extra_groups=[],
            capture_output=True,
            check=False,
            cwd="/",
        )
        if tried.returncode == 0:
            return program
    raise AssertionError("no Python that an ordinary user may start")


def test_there_are_twenty_and_more() -> None:
    assert len(ESCAPES) >= 20


@pytest.mark.parametrize("name", ESCAPES)
def test_it_does_not_get_out(name: str, found: Found, outside: Outside) -> None:
    said = found[name]
    assert "ESCAPED" not in str(said["output"])
    assert "the secret of" not in str(said["output"])
    assert not list((outside.folder / "open").iterdir())
    assert (outside.folder / "secret").stat().st_nlink == 1
    assert outside.parent.poll() is None


def test_who_the_commands_were_is_said(found: Found) -> None:
    assert "namespaces" in str(found["who"]["output"])
    if found["who"]["uid"] == 0:
        assert "a user without an account" in str(found["who"]["output"])


def test_what_was_started_has_ended_with_the_step(found: Found) -> None:
    seen = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert [line for line in seen if line in (["sleep", "41237"], ["sleep", "41238"])] == []
    assert 0 < int(str(found["start without end"]["output"])) < 24


def test_a_full_disk_is_full_inside_and_nothing_large_comes_out(found: Found) -> None:
    for name in ("fill the disk", "make files with holes", "use up the inodes"):
        said = found[name]
        assert said["status"] != 0 or said["full"], name
        assert sum(item["content"] for item in said["changed"]) <= 8 << 20  # type: ignore[attr-defined]


def test_rights_of_another_user_are_not_read_back(found: Found) -> None:
    made = {item["path"]: item["mode"] for item in found["keep the rights of another"]["changed"]}  # type: ignore[attr-defined]
    assert made == {"shell": 0o755}


def test_printing_without_end_is_ended(found: Found) -> None:
    assert found["print without end"]["ended_by"] == "output"
