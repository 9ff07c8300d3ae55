"""When the disk, the store or the user gets in the way: closed properly, said clearly, nothing lost."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from ..command import DYNO, Bench
from ..waiting import wait_until, wait_while_running

JUDGE = """
import pathlib, time

from agentdyno import register_scorer

judged = 0

@register_scorer("patient")
def patient(output):
    global judged
    while judged >= 5 and not pathlib.Path("judge").exists():
        time.sleep(0.01)
    judged += 1
    return 1.0
"""
AGENT = '''
import os, pathlib, time

answered = 0

def slow(text):
    global answered
    while answered >= 5 and not pathlib.Path("go").exists():
        time.sleep(0.01)
    answered += 1
    return text

def big(text):
    return text + os.urandom(40_000).hex()

def big_and_dear(text):
    """What cost something is made permanent at once: no more than one answer is not, however fast all goes."""
    from agentdyno import Response

    return Response(big(text), cost=0.001)
'''
CASES = ", ".join(f'{{id: c{number}, input: "{number}", target: "{number}"}}' for number in range(40))
SUITE = f"name: faults\nscorer: exact\nwarmup: 0\nepochs: 1\ndataset:\n  cases: [{CASES}]\n"


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    bench = loaded_bench
    bench.write("agent.py", AGENT)
    bench.write("suite.yaml", SUITE)
    return bench


def stored(folder: Path) -> int:
    file = folder / ".dyno" / "dyno.db"
    if not file.is_file():
        return 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
        try:
            return int(store.execute("SELECT count(*) FROM samples").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def started(bench: Bench) -> subprocess.Popen[str]:
    """A run that has stored five samples and waits in the sixth case for a file ``go``."""
    run = bench.start("run", "suite.yaml", "--agent", "agent.py@slow")
    wait_while_running(run, lambda: stored(bench.folder) >= 5)
    return run


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_the_run_as_ctrl_c_does_and_a_second_does_not_disturb_it(bench: Bench, number: int) -> None:
    run = started(bench)
    run.send_signal(number)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=120)
    assert run.returncode == 130, err
    assert "Go on with: dyno resume" in err
    (listed,) = bench.dyno("list", "runs", "--json").json
    assert (listed["status"], listed["samples"]) == ("partial", 5)


def test_a_run_that_is_alive_is_not_resumed_and_two_resumes_are_one(bench: Bench) -> None:
    run = started(bench)
    refused = bench.dyno("resume")
    assert refused.code == 2
    assert f"is being executed right now, by process {run.pid}, since 2" in refused.err
    assert f"kill {run.pid}" in refused.err
    run.kill()
    run.communicate(timeout=120)
    resumes = [bench.start("resume") for _ in range(2)]
    wait_until(lambda: any(one.poll() is not None for one in resumes))
    loser = resumes[0] if resumes[0].poll() is not None else resumes[1]
    assert loser.returncode == 2
    assert "is being executed right now" in loser.communicate()[1]
    bench.write("go", "")
    (winner,) = [one for one in resumes if one is not loser]
    _, err = winner.communicate(timeout=120)
    assert winner.returncode == 0, err
    assert stored(bench.folder) == 40


def test_a_store_that_is_deleted_during_a_run_is_kept_whole_and_the_run_goes_on_there(bench: Bench) -> None:
    run = started(bench)
    shutil.rmtree(bench.folder / ".dyno")
    time.sleep(0.6)  # it looks for its store twice a second, when it writes
    bench.write("go", "")
    _, err = run.communicate(timeout=120)
    assert run.returncode == 2
    assert "the store was deleted or replaced while it was written to; the run stops here" in err
    assert "Traceback" not in err
    (copy,) = bench.folder.glob(".dyno/runs/*/store-*.db")
    assert f"--store {copy}" in err
    assert bench.dyno("resume", "--store", str(copy)).code == 0
    (listed,) = bench.dyno("list", "runs", "--json", "--store", str(copy)).json
    assert (listed["status"], listed["samples"]) == ("complete", 40)


def judging(bench: Bench) -> subprocess.Popen[str]:
    """A run of 40 answers is judged again: six are stored, and the judge waits for a file ``judge``."""
    bench.write("go", "")
    bench.write("judge.py", JUDGE)
    assert bench.dyno("run", "suite.yaml", "--agent", "agent.py@slow").code == 0
    bench.write("agent.py", "raise SystemExit('nobody is asked')")
    again = bench.start("rescore", "last", "--scorer", "judge.py@patient")
    while stored(bench.folder) < 45:
        assert again.poll() is None, again.communicate()
        time.sleep(0.01)
    return again


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_judging_again_that_is_ended_goes_on_with_the_answers_that_are_left_and_asks_nobody(
    bench: Bench, number: int
) -> None:
    again = judging(bench)
    refused = bench.dyno("resume")
    assert (refused.code, f"by process {again.pid}" in refused.err) == (2, True)
    again.send_signal(number)
    _, err = again.communicate(timeout=120)
    killed = number == signal.SIGKILL
    assert again.returncode == (-9 if killed else 130), err
    assert killed or "Go on with: dyno resume" in err
    assert bench.dyno("list", "runs", "--json").json[0]["status"] == ("running" if killed else "partial")
    bench.write("judge", "")
    resumed = bench.dyno("resume")
    assert resumed.code == 0, resumed.err
    assert "35 answers judged again" in resumed.err
    listed = bench.dyno("list", "runs", "--json").json
    assert [(item["status"], item["samples"]) for item in listed] == [("complete", 40)] * 2
    assert "nothing to resume" in bench.dyno("resume").err


def test_others_write_to_the_store_while_an_answer_is_judged_again(bench: Bench) -> None:
    again = judging(bench)
    bench.write("other.py", "def other(text): return text")
    beside = bench.dyno("run", "suite.yaml", "--agent", "other.py@other", "--limit", "2")
    assert beside.code == 0, beside.err
    bench.write("judge", "")
    _, err = again.communicate(timeout=120)
    assert again.returncode == 0, err


def test_a_command_that_is_timed_ends_with_whoever_times_it(bench: Bench) -> None:
    """Also where that one is killed, and cannot end anything."""
    timed = bench.start("time", "-r", "3", "-w", "0", "echo $$ > pid; sleep 600")
    pid = bench.folder / "pid"
    while not (pid.is_file() and pid.read_text().strip()):
        assert timed.poll() is None, timed.communicate()
        time.sleep(0.01)
    timed.kill()
    timed.communicate(timeout=120)
    wait_until(lambda: not Path("/proc", pid.read_text().strip()).exists(), lambda: "the command runs on")


def on_a_small_disk(bench: Bench, script: str) -> subprocess.CompletedProcess[str]:
    """``script`` in a shell that alone sees a file system of 2 MB at ``small``."""
    (bench.folder / "small").mkdir()
    for name in ("agent.py", "suite.yaml"):
        (bench.folder / "small" / name).write_text((bench.folder / name).read_text())
    lines = [
        "mount -t tmpfs -o size=2m none small",
        f'cp agent.py suite.yaml small; cd small; dyno() {{ {DYNO} "$@"; }}',
        script,
    ]
    alone = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    return subprocess.run(
        [*alone, "sh", "-c", "set -e\n" + "\n".join(lines)],
        cwd=bench.folder,
        env={**bench.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_a_full_disk_is_said_in_one_message_and_the_run_goes_on_when_there_is_room(bench: Bench) -> None:
    done = on_a_small_disk(
        bench,
        "if dyno run suite.yaml --agent agent.py@big; then exit 9; else echo code $?; fi\n"
        "mount -o remount,size=64m none .\n"
        "dyno resume > /dev/null\n"
        "dyno list runs --json",
    )
    assert done.returncode == 0, done.stderr
    assert "code 2" in done.stdout
    assert "Traceback" not in done.stderr
    assert "the disk is full; the run stops here, what was measured is kept" in done.stderr
    assert "dyno resume " in done.stderr
    assert '"status":"complete"' in done.stdout.replace(" ", "").replace("\n", "")
    assert '"samples":40' in done.stdout.replace(" ", "").replace("\n", "")


def test_a_store_that_may_not_grow_is_said_in_one_message_and_the_run_goes_on_when_it_may(bench: Bench) -> None:
    """RLIMIT_FSIZE: what a quota of a user or a container's limit looks like; not ENOSPC, and not for all files."""
    limited = subprocess.run(
        # blocks of 512 bytes
        ["sh", "-c", f"ulimit -f 1000; exec {DYNO} run suite.yaml --agent agent.py@big_and_dear"],
        cwd=bench.folder,
        env=bench.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert limited.returncode == 2, limited.stderr
    assert "Traceback" not in limited.stderr
    assert "the run stops here, what was measured is kept" in limited.stderr
    assert "dyno resume " in limited.stderr
    assert bench.dyno("resume").code == 0
    (listed,) = bench.dyno("list", "runs", "--json").json
    assert (listed["status"], listed["samples"]) == ("complete", 40)


def test_a_run_whose_result_file_cannot_be_written_is_closed_in_the_store_and_says_so(bench: Bench) -> None:
    run = started(bench)
    (folder,) = (bench.folder / ".dyno" / "runs").iterdir()
    (folder / "result.json").mkdir()  # what is in the way cannot be replaced by a file
    bench.write("go", "")
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    told = " ".join(out.split())
    assert "result.json: cannot write the file: Is a directory; the run is closed in the store" in told
    assert "Traceback" not in err
    assert [item["status"] for item in bench.dyno("list", "runs", "--json").json] == ["complete"]


def measured(bench: Bench) -> None:
    assert bench.dyno("run", "suite.yaml", "--agent", "agent.py@slow", "--limit", "5").code == 0


def test_a_row_that_cannot_be_read_names_its_run_and_check_tells_what_is_damaged(bench: Bench) -> None:
    measured(bench)
    assert bench.dyno("store", "check").code == 0
    with closing(sqlite3.connect(bench.folder / ".dyno" / "dyno.db")) as store, store:
        store.execute("UPDATE samples SET readings = '{broken' WHERE id = 2")
    (run,) = bench.dyno("list", "runs", "--json").json
    for command in (("show", "last"), ("report", "last")):
        shown = bench.dyno(*command)
        assert shown.code == 2
        assert f"run {run['run_id'][:13]} cannot be read: a part of it is damaged" in shown.err
        assert "Traceback" not in shown.err
    checked = bench.dyno("store", "check", "--json")
    assert checked.code == 2
    assert len(checked.json["problems"]) == 1


def test_a_damaged_store_is_not_copied_as_if_it_were_sound(bench: Bench) -> None:
    measured(bench)
    file = bench.folder / ".dyno" / "dyno.db"
    with closing(sqlite3.connect(file)) as store:
        (page,) = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'samples'").fetchone()
        (size,) = store.execute("PRAGMA page_size").fetchone()
    content = bytearray(file.read_bytes())
    content[(page - 1) * size + 100 : page * size] = b"\xff" * (size - 100)
    file.write_bytes(content)
    copied = bench.dyno("store", "backup", "copy.db")
    assert copied.code == 2
    assert "damaged" in copied.err
    assert not (bench.folder / "copy.db").exists()
    assert bench.dyno("store", "check").code == 2


def test_what_can_be_read_of_a_damaged_store_is_rescued_and_the_rest_is_measured_again(bench: Bench) -> None:
    bench.write("go", "")
    assert bench.dyno("run", "suite.yaml", "--agent", "agent.py@slow").code == 0
    file = bench.folder / ".dyno" / "dyno.db"
    with closing(sqlite3.connect(file)) as store:
        (size,) = store.execute("PRAGMA page_size").fetchone()
        leaves = store.execute("SELECT pageno FROM dbstat WHERE name = 'samples' AND pagetype = 'leaf'").fetchall()
    content = bytearray(file.read_bytes())
    damaged = (leaves[len(leaves) // 2][0] - 1) * size
    content[damaged : damaged + 100] = b"\xff" * 100
    file.write_bytes(content)

    checked = bench.dyno("store", "check")
    assert checked.code == 2
    assert "damaged: samples: " in checked.err
    assert "dyno store rescue NEW.db" in checked.err
    rescued = bench.dyno("store", "rescue", "new.db", "--json").json
    assert rescued["runs"] == 1
    assert 0 < rescued["samples"] < 40
    assert len(rescued["gaps"]["samples"]) == 1
    (run,) = rescued["partial"]
    assert bench.dyno("store", "rescue", "new.db").code == 2  # it never overwrites
    assert bench.dyno("store", "check", "--store", "new.db").code == 0
    (before,) = bench.dyno("list", "runs", "--store", "new.db", "--json").json
    assert before["status"] == "partial"
    assert bench.dyno("resume", run, "--store", "new.db").code == 0
    (after,) = bench.dyno("list", "runs", "--store", "new.db", "--json").json
    assert (after["status"], after["samples"], after["errors"]) == ("complete", 40, 0)


def test_a_store_on_a_disk_that_nobody_can_write_to_is_read(bench: Bench) -> None:
    done = on_a_small_disk(
        bench,
        "dyno run suite.yaml --agent agent.py@slow --limit 5 > /dev/null\n"
        "mount -o remount,ro none .\n"
        "dyno list runs; dyno show last; dyno board; dyno store backup ../copy.db",
    )
    assert done.returncode == 0, done.stderr
    assert "complete" in done.stdout
    with closing(sqlite3.connect(bench.folder / "copy.db")) as store:
        assert store.execute("SELECT count(*) FROM samples").fetchone() == (5,)
