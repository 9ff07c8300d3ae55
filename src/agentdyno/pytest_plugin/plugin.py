"""What pytest loads in every session where agentdyno is installed. All else is imported when a test uses it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from agentdyno.pytest_plugin.marks import TriedCase
    from agentdyno.pytest_plugin.session import DynoSession
    from agentdyno.pytest_plugin.timing import TimingFixture

CASE = "dyno_case"
"""The fixture that a test of a suite's case has, whether or not it asks for it."""
_TOLD = "dyno_told"


_SESSION: pytest.StashKey[DynoSession] = pytest.StashKey()
_OF_ITEM: pytest.StashKey[dict[str, object]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dyno", "agents and timings (agentdyno)")
    group.addoption(
        "--dyno-against",
        metavar="REF",
        help="fail only on what is worse than REF: a git revision, AGENT@VERSION or a baseline file for suites; a "
        "git revision whose timings are stored, or a run, for the dyno fixture",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "dyno(suite=FILE, agent=AGENT, epochs=N, ...): one test for each case of a suite; "
        "or dyno(min_rounds=N, max_time=S, group=NAME): how the dyno fixture times",
    )
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reports(config), "dyno-reports")
    if not config.pluginmanager.hasplugin("benchmark"):
        config.addinivalue_line("markers", "benchmark(group=NAME, ...): read by the dyno fixture as well")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("dyno")
    if mark is None or not (mark.args or mark.kwargs):
        return
    from agentdyno.pytest_plugin.timing import TIMING_NAMES

    # A mark that asks for a suite and does not say so must not pass as a test of nothing.
    if mark.args or "suite" in mark.kwargs or not {*mark.kwargs} <= {*TIMING_NAMES}:
        from agentdyno.pytest_plugin.marks import make_cases

        make_cases(metafunc, mark, CASE)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test of a case has the fixture even where its function does not name it."""
    callspec = getattr(item, "callspec", None)
    if isinstance(item, pytest.Function) and callspec is not None and CASE in callspec.params:
        item.fixturenames[:] = dict.fromkeys([*item.fixturenames, CASE])


@pytest.fixture
def dyno_case(request: pytest.FixtureRequest) -> TriedCase:
    """What became of the case of this test, in a test marked with ``dyno(suite=...)``."""
    if not hasattr(request, "param"):
        pytest.fail("dyno_case is for tests that are marked: @pytest.mark.dyno(suite=..., agent=...)", pytrace=False)
    session = _session(request.config)
    case = session.tried(request.param, request.session.items)
    request.node.stash[_OF_ITEM] = session.told(case)
    return case


@pytest.fixture
def dyno(request: pytest.FixtureRequest) -> Iterator[TimingFixture]:
    """Times code into the store of the project: ``result = dyno(function, *args)``, or ``dyno.pedantic(...)``."""
    from agentdyno.pytest_plugin.timing import TimingFixture, timing_options, turns_of

    turns = turns_of(request.config)
    timed = TimingFixture(request.node.name, timing_options(request.node), turns)
    yield timed
    timed.unweave()
    timing = timed.timing(request.node)
    if timing is not None:
        request.node.stash[_OF_ITEM] = {"timing": timing, "turns": None if turns is None else str(turns)}


@pytest.fixture
def dyno_weave(dyno: TimingFixture) -> Callable[..., None]:
    """``dyno_weave("module.function")``: times a function where it is called, without touching the call."""
    return dyno.weave


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """The rules of the suite decide first; then the body may ask for more."""
    if _OF_ITEM in pyfuncitem.stash and CASE in pyfuncitem.funcargs:
        case: TriedCase = pyfuncitem.funcargs[CASE]  # type: ignore[assignment]
        case.decide()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown" and _OF_ITEM in item.stash:
        setattr(report, _TOLD, item.stash[_OF_ITEM])  # goes to the process that started the others, too
    return report


class _Reports:
    """Hears of every test that has ended, in whichever process; not part of the processes that others started."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = getattr(report, _TOLD, None)
        if told is not None:
            _session(self._config).take(told)


def _session(config: pytest.Config) -> DynoSession:
    """What the session keeps; made when a test first needs it."""
    found = config.stash.get(_SESSION, None)
    if found is None:
        from agentdyno.pytest_plugin.session import DynoSession

        found = config.stash[_SESSION] = DynoSession.of(config)
    return found


def pytest_sessionfinish(session: pytest.Session) -> None:
    found = session.config.stash.get(_SESSION, None)
    if found is None:
        return
    interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
    if found.close(interrupted=interrupted) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(_SESSION, None)
    if found is not None:
        found.summarise(terminalreporter)
