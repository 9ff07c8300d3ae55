"""The ``dyno`` fixture: code timed in tests, into the store of the project."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy.random
import pytest
import scipy.special
import scipy.stats

import agentdyno.pytest_plugin.session
from agentdyno.model import RunResult, Verdict
from agentdyno.pytest_plugin.timing import TimingFixture
from agentdyno.pytest_plugin.timing_run import TimingRun, worse_than
from agentdyno.store import Store

pytest_plugins = ["pytester"]
LOADED = (numpy.random, scipy.special, scipy.stats, agentdyno.pytest_plugin.session)
"""A session of pytest inside of this one forgets the modules that it loads; these cannot be loaded twice."""

TIMED = """
import pytest

def test_sum(dyno):
    assert dyno(sum, range(100)) == 4950

@pytest.mark.dyno(group="sorting", min_rounds=2, max_time=0.0)
@pytest.mark.parametrize("size", [10, 20])
def test_sort(dyno, size):
    dyno.extra_info["kind"] = "builtin"
    assert dyno(sorted, range(size, 0, -1)) == list(range(1, size + 1))

def test_pedantic(dyno):
    calls = []
    assert dyno.pedantic(calls.append, args=[1], rounds=3, warmup_rounds=2) is None
    assert len(calls) == 5
    assert dyno.stats.stats.rounds == 3
    assert 0 < dyno.stats.min <= dyno.stats.mean <= dyno.stats.max
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("DYNO_STORE", raising=False)
    pytester.makepyfile(test_timed=TIMED)
    return pytester


def stored(folder: Path) -> list[RunResult]:
    with Store.open(folder / ".dyno" / "dyno.db", must_exist=True) as store:
        return [store.runs.load(row.run_id) for row in store.runs.newest(10)]


def test_the_timings_of_a_session_are_one_run_with_an_arm_for_each_test(project: pytest.Pytester) -> None:
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(passed=4)
    done.stdout.fnmatch_lines(["*samples  test_sum", "4 timings; dyno show *"])
    (run,) = stored(project.path)
    assert (run.kind, run.status, run.origin["tool"]) == ("experiment", "complete", "pytest")
    arms = {arm.name: arm for arm in run.arms}
    assert list(arms) == ["test_sum", "test_sort[10]", "test_sort[20]", "test_pedantic"]
    sort = arms["test_sort[20]"]
    assert (sort.experiment, sort.params) == ("test_timed.py::test_sort", {"size": 20})
    assert (sort.observed["group"], sort.observed["kind"], len(sort.samples)) == ("sorting", "builtin", 2)
    assert sort.samples[0].inner_loops > 1
    assert {"duration_s", "cpu_s"} <= arms["test_sum"].metrics.keys()
    assert arms["test_pedantic"].metrics["duration_s"].n == 3


def test_processes_of_xdist_give_one_run(project: pytest.Pytester) -> None:
    before = {*Path(tempfile.gettempdir()).glob("dyno-*.lock")}
    project.runpytest_subprocess("-n", "4").assert_outcomes(passed=4)
    left = {*Path(tempfile.gettempdir()).glob("dyno-*.lock")} - before
    assert left == set(), "what they took turns by is not needed any more"
    (run,) = stored(project.path)
    assert sorted(arm.name for arm in run.arms) == ["test_pedantic", "test_sort[10]", "test_sort[20]", "test_sum"]
    assert [warning.code for warning in run.warnings if warning.code == "beside-others"] == ["beside-others"]


def test_what_was_timed_before_a_kill_is_stored(project: pytest.Pytester) -> None:
    killed = "\ndef test_z_killed(dyno):\n    import os\n    os.kill(os.getpid(), 9)\n"
    project.makepyfile(test_timed=TIMED + killed)
    assert project.runpytest_subprocess("-p", "no:xdist").ret == -9
    (run,) = stored(project.path)
    assert [arm.name for arm in run.arms] == ["test_sum", "test_sort[10]", "test_sort[20]", "test_pedantic"]
    assert all(arm.samples for arm in run.arms)
    project.makepyfile(test_timed=TIMED)
    project.runpytest_inprocess("-p", "no:xdist", "-k", "pedantic")
    assert [(found.status, len(found.arms)) for found in stored(project.path)] == [("complete", 1), ("partial", 4)]


def test_a_session_without_timings_leaves_no_store(project: pytest.Pytester) -> None:
    project.makepyfile(test_timed="def test_nothing(dyno): pass\n")
    project.runpytest_inprocess("-p", "no:xdist").assert_outcomes(passed=1)
    assert not (project.path / ".dyno").exists()


def test_timings_of_a_revision_that_has_none_are_not_compared(project: pytest.Pytester) -> None:
    who = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "first")):
        assert project.run("git", *who, *arguments).ret == 0
    done = project.runpytest_inprocess("-p", "no:xdist", "--dyno-against", "main", "-k", "pedantic")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["timings are not compared: no timings of main * are stored; check main out *"])
    again = project.runpytest_inprocess("-p", "no:xdist", "--dyno-against", "last~1", "-k", "pedantic")
    again.stdout.fnmatch_lines(["timings beside *dyno compare *"])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("min_round=3", "no option 'min_round'"),
        ("min_rounds=0", "min_rounds is a whole number"),
        ("max_time='x'", "max_time"),
    ],
)
def test_a_mistake_in_the_options_is_told(project: pytest.Pytester, options: str, told: str) -> None:
    project.makepyfile(test_timed=f"import pytest\n@pytest.mark.dyno({options})\ndef test_x(dyno): pass\n")
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([f"*{told}*"])


def test_pedantic_calls_as_often_as_pytest_benchmark_does() -> None:
    calls: list[str] = []
    timed = TimingFixture("x")
    timed.pedantic(lambda: calls.append("call"), teardown=lambda: calls.append("end"), rounds=2, iterations=3)
    assert calls == [*["call"] * 3, "end"] * 2 + ["call", "end"]


def test_setup_gives_the_arguments_of_each_round() -> None:
    seen: list[tuple[int, int]] = []
    timed = TimingFixture("x")
    timed.pedantic(lambda a, b=0: seen.append((a, b)), setup=lambda: ([1], {"b": 2}), rounds=2)
    assert seen == [(1, 2), (1, 2)]
    with pytest.raises(TypeError, match="setup returns"):
        TimingFixture("x").pedantic(seen.append, args=[1], setup=lambda: ([1], {}))


@pytest.mark.parametrize("counts", [{"rounds": 0}, {"iterations": "x"}, {"warmup_rounds": -1}])
def test_pedantic_refuses_what_is_no_number_of_calls(counts: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="whole number"):
        TimingFixture("x").pedantic(list, **counts)  # type: ignore[arg-type]


def test_the_fixture_times_once_in_a_test() -> None:
    timed = TimingFixture("x")
    timed.pedantic(list)
    with pytest.raises(RuntimeError, match=r"was as dyno\.pedantic"):
        timed(list)


def test_a_woven_function_is_timed_where_it_is_called_and_put_back() -> None:
    timed = TimingFixture("x")
    original = Path.exists
    timed.weave(Path.exists)
    assert Path.exists(Path()) is True
    assert timed.stats is not None
    timed.unweave()
    assert Path.exists is original


def timed_session(url: str, root: Path, scale: float) -> RunResult:
    """A session with one test, whose times are given."""
    run = TimingRun(url, root, "9")
    samples = [{"duration_s": scale * (1 + 0.01 * (n % 5)), "cpu_s": scale * (1 + 0.01 * (n % 5))} for n in range(30)]
    timing = {"experiment": "t.py::test_a", "name": "test_a", "params": {}, "observed": {}, "extra": {}, "loops": 1}
    run.take({**timing, "began_ms": 1_000, "beside_others": False, "samples": samples})
    closed = run.close(interrupted=False)
    assert closed is not None
    return closed


def test_timings_are_worse_only_beyond_what_is_known_of_the_noise_between_runs(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'dyno.db'}"
    first = timed_session(url, tmp_path, 0.001)
    found, told = worse_than(first.run_id, timed_session(url, tmp_path, 0.003), url)
    assert found is not None
    assert found.verdict is Verdict.INCONCLUSIVE  # nothing is known of the noise between runs yet
    assert "none is worse (inconclusive)" in told
    url = f"sqlite:///{tmp_path / 'known.db'}"
    for scale in (0.00101, 0.00099, 0.001, 0.00102, 0.00098, 0.00101, 0.001):
        before = timed_session(url, tmp_path, scale)
    found, told = worse_than(before.run_id, timed_session(url, tmp_path, 0.003), url)
    assert found is not None
    assert found.verdict is Verdict.WORSE
    assert "worse: test_a; dyno compare" in told


def test_a_store_that_cannot_be_written_is_said_in_a_line_and_the_tests_go_on(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_timed="""
        import pathlib, shutil

        def test_first(dyno):
            dyno(sum, range(100))

        def test_second(dyno):
            dyno(sum, range(100))
            shutil.rmtree(pathlib.Path(".dyno"))
            pathlib.Path(".dyno").write_text("no folder any more")

        def test_third(dyno):
            dyno(sum, range(100))
        """
    )
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(passed=3)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["timings are not stored: *the store was deleted or replaced while it was written to*"])
    done.stdout.no_fnmatch_line("*INTERNALERROR*")
    done.stdout.no_fnmatch_line("*Traceback*")


def test_a_store_that_is_replaced_by_another_leaves_a_copy_of_what_was_timed(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_timed="""
        import pathlib, sqlite3

        def test_first(dyno):
            dyno(sum, range(100))

        def test_second(dyno):
            dyno(sum, range(100))
            pathlib.Path("other.db").write_bytes(b"")
            pathlib.Path("other.db").replace(".dyno/dyno.db")
        """
    )
    done = project.runpytest_inprocess("-p", "no:xdist")
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(["timings are not stored: *everything in the store is kept in *"])
    (copy,) = project.path.glob(".dyno/runs/*/store-*.db")
    with Store.open(copy, must_exist=True) as store:
        (row,) = store.runs.newest(10)
        assert store.runs.load(row.run_id).arms[0].name == "test_first"
