"""A suite as the runner reads it: benchmarks with their cases, agents, limits and rubrics, all defaults filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.case import Case
from agentdyno.model.identity import digest
from agentdyno.model.metric import Category
from agentdyno.model.sample import LEFT_OUT
from agentdyno.settings.judging import FAIL_UNDER, PASS_THRESHOLD, K
from agentdyno.settings.suite import CONCURRENCY, EPOCHS, RECORD, RETRIES

_MOST_DIGESTS = 256
_DIGESTS: dict[tuple[str, tuple[str, ...]], str] = {}
"""Of suites, by id and by what is asked: a run makes ten copies of its suite, and all of them have the same."""


def slug(name: str) -> str:
    """``First steps!`` as ``first-steps``; what has no letter or digit keeps a digest."""
    text = "-".join(re.findall(r"\w+", name.lower()))
    return text or digest(name, 8)


class TestType(StrEnum):
    __test__ = False

    SYNTHETIC = "synthetic"
    REAL_WORLD = "real_world"
    STRESS = "stress"
    EDGE_CASE = "edge_case"


class Complexity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    EXTREME = "extreme"


class Reducer(StrEnum):
    """How the epochs of one case become one score; ``pass@k`` and ``pass^k`` take ``Rubric.k``."""

    MEAN = "mean"
    MAX = "max"
    PASS_AT_K = "pass@k"
    PASS_HAT_K = "pass^k"


@dataclass(frozen=True, slots=True)
class ScorerUse:
    """A scorer by name (or ``file.py@name``) with its options and its weight in the case's score."""

    name: str
    weight: float = 1.0
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rubric:
    """How answers are judged and figures scored.

    ``targets`` and ``limits`` are the values at which a quantity scores 1 and 0, by metric name: ``duration_s``,
    ``cost_usd`` (per success), ``total_tokens``, ``cpu_s``, ``peak_rss_bytes`` (per success).
    """

    scorers: tuple[ScorerUse, ...] = (ScorerUse("exact"),)
    pass_threshold: float = PASS_THRESHOLD.default
    reducer: Reducer = Reducer.MEAN
    k: int = K.default
    targets: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Constraints:
    """What one case (or, in ``Suite.constraints``, the whole run) may use; ``None`` is no limit."""

    time_limit_s: float | None = None
    memory_limit_bytes: int | None = None
    token_limit: int | None = None
    cost_limit_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark of a suite; its id follows from its name unless given.

    ``epochs`` and ``warmup`` are ``None`` where the suite's count.
    """

    name: str
    cases: tuple[Case, ...]
    benchmark_id: str = ""
    description: str = ""
    category: Category = Category.COMPREHENSIVE
    test_type: TestType = TestType.SYNTHETIC
    metrics_measured: tuple[str, ...] = ()
    complexity: Complexity = Complexity.MEDIUM
    data_source: str = "inline"
    constraints: Constraints = field(default_factory=Constraints)
    rubric: Rubric = field(default_factory=Rubric)
    epochs: int | None = None
    warmup: int | None = None
    _digest: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", tuple(self.cases))
        object.__setattr__(self, "benchmark_id", self.benchmark_id or slug(self.name))

    @property
    def digest(self) -> str:
        """Of its cases, limits and rubric; worked out once, as there may be many cases."""
        if not self._digest:
            from agentdyno.model.codec import to_plain

            asked = to_plain([self.benchmark_id, self.cases, self.constraints, self.rubric])
            object.__setattr__(self, "_digest", digest(asked, 32))
        return self._digest


@dataclass(frozen=True, slots=True)
class AgentUse:
    """An agent to put on the bench: a label, where it is, and its configuration.

    ``uses`` is ``file.py@name``, ``module:attr``, a scheme (``cmd:``, ``stdio:``, ``openai:``, ``ollama:``,
    ``http(s):``) or the name of an installed agent. ``env`` are names of environment variables it may read; their
    values are never stored. ``base_dir`` is where relative paths start. ``version`` is ``None`` where nobody declared
    one. ``record`` says what is kept of its model calls, "" where the suite says that. ``python`` is the interpreter
    that a Python agent lives in, as the user wrote it; without one it is the bench's own.

    ``identity`` is where it comes from, as ``model.naming`` writes it: what has the same one is versions of
    one agent. ``label`` is what it is called where that is not its name, because others are called so. ``at_version``
    is the version at which it took part in a run.
    """

    name: str
    uses: str
    version: str | None = None
    config: Mapping[str, object] = field(default_factory=dict)
    env: tuple[str, ...] = ()
    description: str = ""
    base_dir: str = "."
    record: str = field(default="", metadata=LEFT_OUT)
    python: str = field(default="", metadata=LEFT_OUT)
    identity: str = field(default="", metadata=LEFT_OUT)
    label: str = field(default="", metadata=LEFT_OUT)
    at_version: str = field(default="", metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class BaselineScores:
    """Scores that a named agent is known to have, by dimension."""

    agent_id: str
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suite:
    """Many benchmarks for agents; its id follows from its name unless given.

    ``created_at`` is an ISO date as written; ``version`` is declared or "". ``warmup`` is ``None`` where nobody
    said: 3 calls for an agent that costs nothing, none for others. ``fail_under`` is the least accuracy (0..1) with
    which a run of it is a success. ``record`` says what is kept of the agents' model calls. ``thresholds`` say from
    which change on a metric counts as worse, as ``findings.history.judge_thresholds`` has them.
    """

    name: str
    benchmarks: tuple[Benchmark, ...]
    suite_id: str = ""
    category: Category = Category.COMPREHENSIVE
    description: str = ""
    version: str = ""
    created_at: str = ""
    epochs: int = EPOCHS.default
    warmup: int | None = None
    concurrency: int = CONCURRENCY.default
    retries: int = RETRIES.default
    constraints: Constraints = field(default_factory=Constraints)
    baseline_scores: tuple[BaselineScores, ...] = ()
    agents: tuple[AgentUse, ...] = ()
    imports: tuple[str, ...] = ()
    base_dir: str = "."
    source: str = ""
    fail_under: float | None = FAIL_UNDER.default
    record: str = field(default=RECORD.default, metadata=LEFT_OUT)
    thresholds: Mapping[str, float] = field(default_factory=dict, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        object.__setattr__(self, "benchmarks", tuple(self.benchmarks))
        object.__setattr__(self, "suite_id", self.suite_id or slug(self.name))

    @property
    def digest(self) -> str:
        """Of what is asked and how it is judged: a change of it makes another version of the suite.

        Agents, concurrency, folders and descriptions do not count; a subset (``--limit``) is another version.
        """
        key = self.suite_id, tuple(item.digest for item in self.benchmarks)
        found = _DIGESTS.get(key)
        if found is None:
            from agentdyno.model.codec import to_plain

            parts = ([item.benchmark_id, item.cases, item.constraints, item.rubric] for item in self.benchmarks)
            found = digest([self.suite_id, [to_plain(part) for part in parts]], 16)
            if len(_DIGESTS) >= _MOST_DIGESTS:
                _DIGESTS.clear()
            _DIGESTS[key] = found
        return found

    def benchmark(self, benchmark_id: str) -> Benchmark:
        for item in self.benchmarks:
            if item.benchmark_id == benchmark_id:
                return item
        raise KeyError(benchmark_id)


@dataclass(frozen=True, slots=True)
class RunForm:
    """What was asked for. ``suite`` is the digest of the whole suite's version, "" where it could not be read.

    ``cases`` of ``suite_cases`` were chosen; ``selection`` is a digest of their ids, "" for all of them. ``whole`` is
    False where the choice or the limits of a case differ from the suite's own. ``quick``: what the suite says under
    ``quick:`` was applied. ``limits`` are of the whole run. ``proxied``: calls went through a recording proxy.
    """

    suite: str
    cases: int
    suite_cases: int
    epochs: int
    suite_epochs: int
    whole: bool = True
    quick: bool = False
    selection: str = ""
    limits: Constraints = field(default_factory=Constraints)
    proxied: bool = False
