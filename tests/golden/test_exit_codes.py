"""The exit codes, each by one short example: scripts and pipelines rest on them."""

from __future__ import annotations

import shutil
import signal

import pytest

from ..command import Bench
from ..waiting import wait_while_running
from .asking import Project
from .golden import DATA

WORSE = ("compare", "given.json:sort[size=10,kind=quick]", "given.json:sort[size=100,kind=quick]", "--gate")
UNDECIDED = ("compare", "019b9b8c", "--gate", "--strict")


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (0, ("board",)),
        (1, WORSE),
        (2, ("show", "0000")),
        (3, ("compare", "019b9b1e", "019b95c0")),
        (4, UNDECIDED),
        (0, UNDECIDED[:-1]),
        (130, ("jobs", "follow", "019b9c00-0000-7000-8000-000000000002")),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else value[0],
)
def test_an_answer_has_the_exit_code_of_before(code: int, arguments: tuple[str, ...], seeded: Project) -> None:
    shutil.copy(DATA / "given" / "experiment.json", seeded.folder / "given.json")
    assert seeded.ask(*arguments).code == code


def test_a_run_without_a_usable_sample_exits_with_5(bench: Bench) -> None:
    bench.write("work.py", "def fail():\n    raise ValueError('no')\n")
    done = bench.dyno("run", "work.py@fail", "--iterations", "2", "--warmup", "0")
    assert done.code == 5, done.err


def test_an_interrupted_run_exits_with_130(bench: Bench) -> None:
    code = "import pathlib, time\n\n\ndef wait():\n    pathlib.Path(r'{}').touch()\n    time.sleep(600)\n"
    started = bench.folder / "started"
    bench.write("work.py", code.format(started))
    process = bench.start("run", "work.py@wait", "--iterations", "3", "--warmup", "0")
    wait_while_running(process, started.exists)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
