"""What a mark asks for: the suite, the agents, and one test for each case."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType

import pytest

from agentdyno.errors import DynoError, SpecError, nearest
from agentdyno.model import Case, Sample, Workspace
from agentdyno.model.case import CaseKey
from agentdyno.pytest_plugin.timing import TIMING_NAMES
from agentdyno.runs.kind import Choices
from agentdyno.runs.lineup import Entrant, Named
from agentdyno.runs.suite.prepare import candidates_of
from agentdyno.settings.suite import ALLOW_CHANGED_SUITE
from agentdyno.specs import LoadedSuite, load_suite, load_workspace, suite_changes
from agentdyno.specs.changes import SUITE_CHANGES, known_changes

PASSED, FAILED, TOLERATED, SKIPPED = "passed", "failed", "tolerated", "skipped"


@dataclass(frozen=True, slots=True)
class MarkedSuite:
    """What one mark asks for. Two tests with equal marks share one run."""

    suite: Path
    agents: tuple[Named, ...] = ()
    changes: tuple[tuple[str, object], ...] = ()
    max_cost: float | None = None
    quick: bool = False
    allow_changed_suite: bool = False

    def load(self) -> LoadedSuite:
        return load_suite(self.suite, quick=self.quick, overrides=suite_changes(**dict(self.changes)))

    @property
    def choices(self) -> Choices:
        return Choices(self.agents, self.max_cost, allow_changed_suite=self.allow_changed_suite)

    @property
    def identity(self) -> tuple[object, ...]:
        said = (self.agents, self.changes, self.max_cost, self.quick, self.allow_changed_suite)
        return (self.suite, *map(repr, said))


@dataclass(frozen=True, slots=True)
class CasePlace:
    """One test of a marked suite: a case for one agent, or with no ``key`` the rules about all of its cases."""

    marked: MarkedSuite
    agent: str
    key: CaseKey | None = None
    case: Case | None = None


@dataclass(frozen=True, slots=True)
class TriedCase:
    """What became of one case: what a test that asks for ``dyno_case`` gets.

    ``tries`` and ``passed`` count answers; ``answers`` are what the agent said, in the order of the epochs. For the
    test of the rules about all cases, ``case_id`` is "".
    """

    case_id: str
    benchmark: str
    agent: str
    run: str
    outcome: str
    message: str = ""
    input: object = None
    target: object = None
    passed: int = 0
    tries: int = 0
    _samples: Callable[[], Sequence[Sample]] = field(default=tuple, repr=False)

    @property
    def samples(self) -> Sequence[Sample]:
        """Every execution of the case, as it is stored."""
        return self._samples()

    @property
    def answers(self) -> list[object]:
        return [sample.output for sample in self.samples]

    def decide(self) -> None:
        """Ends the test where the rules say how."""
        if self.outcome == FAILED:
            pytest.fail(self.message, pytrace=False)
        if self.outcome == TOLERATED:
            pytest.xfail(self.message)
        if self.outcome == SKIPPED:
            pytest.skip(self.message)


def make_cases(metafunc: pytest.Metafunc, mark: pytest.Mark, fixture: str) -> None:
    """One test for each agent and case, and one for the rules about all cases where there are any."""
    places: list[CasePlace] = []
    ids: list[str] = []
    problem = ""
    try:
        places, ids = _places(mark, metafunc.definition.path.parent, metafunc.config.getoption("--dyno-against"))
    except DynoError as error:
        problem = str(error)
    if problem:
        pytest.fail(f"@pytest.mark.dyno: {problem}", pytrace=False)
    if fixture not in metafunc.fixturenames:
        metafunc.fixturenames.append(fixture)
    metafunc.parametrize(fixture, places, ids=ids, indirect=True)


def _places(mark: pytest.Mark, folder: Path, against: str | None) -> tuple[list[CasePlace], list[str]]:
    marked, workspace = read_mark(mark.args, mark.kwargs, folder), load_workspace(Path.cwd())
    loaded = marked.load()
    entrants = candidates_of(loaded.suite, workspace, marked.choices)
    several = len(loaded.suite.benchmarks) > 1
    places, ids = [], []
    for entrant in entrants:
        before = f"{_name(entrant, entrants)}-" if len(entrants) > 1 else ""
        for benchmark in loaded.suite.benchmarks:
            for case in benchmark.cases:
                places.append(CasePlace(marked, entrant.label, CaseKey(benchmark.benchmark_id, case.id), case))
                ids.append(f"{before}{benchmark.benchmark_id}/{case.id}" if several else f"{before}{case.id}")
        if against is not None or has_rules_about_all(workspace):
            places.append(CasePlace(marked, entrant.label))
            ids.append(f"{before}gate")
    return places, ids


def _name(entrant: Entrant, all_of_them: Sequence[Entrant]) -> str:
    alone = sum(other.use.name == entrant.use.name for other in all_of_them) == 1
    return entrant.use.name if alone else entrant.label


def has_rules_about_all(workspace: Workspace) -> bool:
    """Whether dyno.yaml asks for something that no single case decides."""
    rules = workspace.gate.cases
    return bool(rules.minimum) or rules.max_broken is not None


def read_mark(args: Sequence[object], given: Mapping[str, object], folder: Path) -> MarkedSuite:
    """The mark, with files found beside the test first and from the current folder then."""
    rest = dict(given)
    known = known_changes(SUITE_CHANGES)
    if not args and "suite" not in rest:
        raise _without_suite(rest, ("agent", "agents", "max_cost", "quick", ALLOW_CHANGED_SUITE.name, *known))
    suite, agents = rest.pop("suite", None), rest.pop("agent", rest.pop("agents", None))
    max_cost, quick = rest.pop("max_cost", None), bool(rest.pop("quick", False))
    if args or not isinstance(suite, (str, Path)):
        raise SpecError("suite is the name of a file", remedy='Say suite="suite.yaml", and all else by name, too.')
    allowed = bool(rest.pop(ALLOW_CHANGED_SUITE.name, False))
    for name in rest:
        if name not in known:
            names = ("suite", "agent", "max_cost", "quick", ALLOW_CHANGED_SUITE.name, *known)
            raise SpecError(f"no option {name!r}", remedy=nearest(name, names))
    if max_cost is not None and (isinstance(max_cost, bool) or not isinstance(max_cost, (int, float))):
        raise SpecError(f"max_cost is a number of dollars, not {max_cost!r}")
    named = () if agents is None else tuple(agents) if isinstance(agents, (list, tuple)) else (agents,)
    return MarkedSuite(
        _beside(str(suite), folder),
        tuple(_agent(item, folder) for item in named),
        tuple(sorted(rest.items())),
        None if max_cost is None else float(max_cost),
        quick,
        allowed,
    )


def _without_suite(given: Iterable[str], known: Sequence[str]) -> SpecError:
    others = [name for name in given if name not in TIMING_NAMES]
    meant = next((name for name in others if name in known), None)
    if meant is not None:
        return SpecError(
            f"{meant} goes with a suite, and none is named", remedy='Say suite="suite.yaml" in the mark.'
        )
    return SpecError(f"no option {others[0]!r}", remedy=nearest(others[0], ("suite", *known, *TIMING_NAMES)))


def _beside(name: str, folder: Path) -> Path:
    path = folder / Path(name).expanduser()
    return path if path.exists() else Path.cwd() / Path(name).expanduser()


def _agent(item: object, folder: Path) -> Named:
    """A file beside the test by its whole path; a function by its file, so that another process can go on with it."""
    if isinstance(item, str):
        file, at, name = item.rpartition("@")
        beside = folder / file
        return f"{beside}@{name}" if at and file.endswith(".py") and beside.is_file() else item
    if isinstance(item, FunctionType) and _is_found_by_name(item):
        source = inspect.getsourcefile(item)
        if source is not None and source.endswith(".py"):
            return f"{Path(source).absolute()}@{item.__name__}"
    if callable(item) or hasattr(item, "run"):
        return item
    raise SpecError(
        f"an agent is a name, a reference or a function, not {type(item).__name__}",
        remedy='For example agent="agent.py@answer", or agent=answer.',
    )


def _is_found_by_name(function: FunctionType) -> bool:
    return getattr(sys.modules.get(function.__module__), function.__name__, None) is function
