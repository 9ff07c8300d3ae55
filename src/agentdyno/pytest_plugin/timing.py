"""The ``dyno`` fixture: times code as it is called in a test, with the calling habits of pytest-benchmark."""

from __future__ import annotations

import fcntl
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import pytest

from agentdyno.errors import nearest
from agentdyno.runner.bench.timing import TimedCalls, calibrate_loops, time_bare_calls
from agentdyno.runs.place import now_ms
from agentdyno.workers.reference import QUEUED, References

R = TypeVar("R")
MOST_ROUNDS = 100
"""Samples of one test: more tell little more, and all are kept."""
_REFERENCE_S = 0.02
"""Seconds that readings of how fast the host is may take in a test."""
_PROFILED = 20
"""Functions that are kept of a profile."""
_FOREIGN = (
    "min_time",
    "timer",
    "disable_gc",
    "warmup",
    "warmup_iterations",
    "calibration_precision",
    "cprofile_loops",
)
"""Options of pytest-benchmark that say how it measures, and not what: they are accepted and have no effect."""


@dataclass(frozen=True, slots=True)
class TimingOptions:
    """How one test is timed: at least ``min_rounds`` samples, more while ``max_time`` seconds last.

    ``group`` is kept with the figures; ``cprofile`` profiles one more call after everything that is timed.
    """

    min_rounds: int = 5
    max_time: float = 1.0
    group: str | None = None
    cprofile: bool = False


TIMING_NAMES = (*(item.name for item in fields(TimingOptions)), *_FOREIGN)
"""What a mark may say without a suite."""


def timing_options(node: pytest.Item) -> TimingOptions:
    """What the marks ``dyno`` and ``benchmark`` of a test say."""
    given: dict[str, object] = {}
    for name in ("benchmark", "dyno"):
        mark = node.get_closest_marker(name)
        given |= mark.kwargs if mark is not None and "suite" not in mark.kwargs else {}
    for name in given:
        if name not in TIMING_NAMES:
            known = [item.name for item in fields(TimingOptions)]
            pytest.fail(f"@pytest.mark.dyno: no option {name!r}\n  {nearest(name, known)}", pytrace=False)
    rounds, seconds = given.get("min_rounds", 5), given.get("max_time", 1.0)
    if not isinstance(rounds, int) or isinstance(rounds, bool) or rounds < 1:
        pytest.fail(f"@pytest.mark.dyno: min_rounds is a whole number of at least 1, not {rounds!r}", pytrace=False)
    try:
        limit = float(str(seconds))
    except ValueError:
        pytest.fail(f"@pytest.mark.dyno: max_time is a number of seconds, not {seconds!r}", pytrace=False)
    group = given.get("group")
    return TimingOptions(rounds, limit, None if group is None else str(group), bool(given.get("cprofile")))


def turns_of(config: pytest.Config) -> Path | None:
    """The file by which processes of pytest-xdist take turns in measuring; ``None`` without it."""
    worker: Mapping[str, str] = getattr(config, "workerinput", {})
    return Path(tempfile.gettempdir()) / f"dyno-{worker['testrunuid']}.lock" if "testrunuid" in worker else None


@dataclass(frozen=True, slots=True)
class TimingStats:
    """Figures of the samples, in seconds per call; ``stats`` is itself, as tests for pytest-benchmark spell it."""

    data: tuple[float, ...]
    iterations: int

    @property
    def stats(self) -> TimingStats:
        return self

    @property
    def rounds(self) -> int:
        return len(self.data)

    @property
    def min(self) -> float:
        return min(self.data)

    @property
    def max(self) -> float:
        return max(self.data)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.data)

    @property
    def median(self) -> float:
        return statistics.median(self.data)

    @property
    def stddev(self) -> float:
        return statistics.stdev(self.data) if len(self.data) > 1 else 0.0

    @property
    def ops(self) -> float:
        return 1 / self.mean if self.mean else math.inf


@dataclass(slots=True)
class TimingFixture:
    """``dyno(function, *args)`` times a function and returns what it returned.

    ``extra_info`` is kept with the figures, if it can be written as JSON; ``stats`` has the figures afterwards.
    """

    name: str
    options: TimingOptions = field(default_factory=TimingOptions)
    turns: Path | None = None
    group: str | None = None
    extra_info: dict[str, object] = field(default_factory=dict)
    enabled: bool = True
    disabled: bool = False
    _used: str = ""
    _began_ms: int = 0
    _loops: int = 1
    _timed: list[tuple[TimedCalls, dict[str, float]]] = field(default_factory=list)
    _profile: list[str] = field(default_factory=list)
    _woven: list[tuple[object, str, object]] = field(default_factory=list)

    @property
    def stats(self) -> TimingStats | None:
        values = tuple(calls.wall_ns / calls.loops / 1e9 for calls, _ in self._timed)
        return TimingStats(values, self._loops) if values else None

    def __call__(self, function: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        """Times ``function(*args, **kwargs)``, often, and returns the result of one more call."""
        self._use("dyno(...)")
        call = partial(function, *args, **kwargs) if args or kwargs else function
        with self._turn(), _untraced():
            self._loops = calibrate_loops(lambda loops: time_bare_calls(call, loops))
            references, spent_s = _references(), 0.0
            most = max(MOST_ROUNDS, self.options.min_rounds)
            while len(self._timed) < most:
                if len(self._timed) >= self.options.min_rounds and spent_s >= self.options.max_time:
                    break
                spent_s += self._sample(call, self._loops, references)
            references.close()
        if self.options.cprofile:
            return self._profiled(call)
        return call()

    def pedantic(
        self,
        target: Callable[..., R],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        setup: Callable[[], object] | None = None,
        teardown: Callable[..., object] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> R:
        """Exactly ``rounds`` samples of ``iterations`` calls each; ``setup`` may return ``(args, kwargs)``.

        With several iterations the result comes from one more call. All arguments are those of pytest-benchmark.
        """
        self._use("dyno.pedantic(...)")
        _check_counts(rounds, warmup_rounds, iterations, setup is not None)

        def arguments() -> tuple[Sequence[object], Mapping[str, object]]:
            made = setup() if setup is not None else None
            if not made:
                return args, kwargs or {}
            if args or kwargs:
                raise TypeError("args and kwargs cannot be given where setup returns them")
            return made  # type: ignore[return-value]

        def one(timed: Callable[[Callable[[], R]], object]) -> object:
            given, named = arguments()
            found = timed(partial(target, *given, **named))
            if teardown is not None:
                teardown(*given, **named)
            return found

        self._loops = iterations
        for _ in range(warmup_rounds):
            one(lambda call: time_bare_calls(call, iterations))
        references = _references()
        for _ in range(rounds):
            with self._turn(), _untraced():
                one(lambda call: self._sample(call, iterations, references))
        references.close()
        result = self._timed[-1][0].result if iterations == 1 else one(lambda call: call())
        if self.options.cprofile:
            one(self._profiled)
        return result  # type: ignore[return-value]

    def weave(self, target: str | Callable[..., object], **options: object) -> None:  # noqa: ARG002
        """Times a function where other code calls it: ``"module.name"``, or a function or method.

        It is put back when the test ends; only its first call is timed. Further options, as pytest-benchmark passes
        them on to aspectlib, are accepted and have no effect.
        """
        if isinstance(target, str):
            module, _, name = target.rpartition(".")
        else:
            module, name = target.__module__, target.__qualname__
        owner: object = import_module(module)
        *outer, name = name.split(".")
        for part in outer:
            owner = getattr(owner, part)
        original = getattr(owner, name)

        def timed(*args: object, **kwargs: object) -> object:
            return original(*args, **kwargs) if self._used else self(original, *args, **kwargs)

        self._woven.append((owner, name, original))
        setattr(owner, name, timed)

    def unweave(self) -> None:
        """Puts back what ``weave`` has replaced."""
        while self._woven:
            setattr(*self._woven.pop())

    def timing(self, node: pytest.Item) -> dict[str, object] | None:
        """What was measured, in plain values that another process can be told; ``None`` where nothing was."""
        if not self._timed:
            return None
        callspec = getattr(node, "callspec", None)
        params = {} if callspec is None else dict(callspec.params)
        case = "" if callspec is None else callspec.id
        observed = {"group": self.group or self.options.group, "profile": "\n".join(self._profile)}
        return {
            "experiment": node.nodeid.removesuffix(f"[{case}]") if case else node.nodeid,
            "name": self.name,
            "params": params if _is_plain(params) else {"case": case},
            "observed": {name: value for name, value in observed.items() if value},
            "extra": self.extra_info if _is_plain(self.extra_info) else {},
            "loops": self._loops,
            "began_ms": self._began_ms,
            "beside_others": self.turns is not None,
            "samples": [
                {"duration_s": calls.wall_ns / calls.loops / 1e9, "cpu_s": calls.cpu_ns / calls.loops / 1e9, **more}
                for calls, more in self._timed
            ],
        }

    def _use(self, how: str) -> None:
        if self._used:
            raise RuntimeError(f"the dyno fixture can be used once in a test, and was as {self._used}")
        self._used, self._began_ms = how, now_ms()

    def _sample(self, call: Callable[[], object], loops: int, references: References) -> float:
        queued = references.queued_s()
        calls = time_bare_calls(call, loops)
        after = references.queued_s()
        seconds = calls.wall_ns / 1e9
        references.worked(seconds)
        more = dict(references.now())
        if queued is not None and after is not None:
            more[QUEUED] = (after - queued) / loops
        self._timed.append((calls, more))
        return seconds

    def _turn(self) -> AbstractContextManager[None]:
        return nullcontext() if self.turns is None else _locked(self.turns)

    def _profiled(self, call: Callable[[], R]) -> R:
        import cProfile
        import io
        import pstats

        profile, text = cProfile.Profile(), io.StringIO()
        result = profile.runcall(call)
        pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats(_PROFILED)
        self._profile = [line.rstrip() for line in text.getvalue().splitlines() if line.strip()]
        return result


def _references() -> References:
    found = References(_REFERENCE_S)
    found.begin()
    return found


def _check_counts(rounds: int, warmup_rounds: int, iterations: int, has_setup: bool) -> None:
    for name, value, least in (
        ("iterations", iterations, 1),
        ("rounds", rounds, 1),
        ("warmup_rounds", warmup_rounds, 0),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} is a whole number of at least {least}, not {value!r}")
    if iterations > 1 and has_setup:
        raise ValueError("with setup each round is one call: iterations has to be 1")


def _is_plain(value: object) -> bool:
    """Whether it is what JSON has, and comes back as it was: the text of other objects may differ in every run."""
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("a") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _untraced() -> Iterator[None]:
    """Coverage and debuggers look away while code is timed."""
    trace = sys.gettrace()
    if trace is None:
        yield
        return
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(trace)
