"""Values of the model as rows, and rows as values of the model.

Numbers that are not finite have no JSON form: such a reading or figure is left out, such a score is null.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from agentdyno.errors import StoreError
from agentdyno.model import Arm, Failure, Phase, Sample, Status
from agentdyno.model.codec import from_plain, to_plain

if TYPE_CHECKING:
    from agentdyno.model import MetricSummary, RunResult

T = TypeVar("T")

SAMPLE_COLUMNS = (
    "arm",
    "phase",
    "iteration",
    "case_id",
    "instrument",
    "status",
    "started_at_ms",
    "duration_s",
    "cpu_s",
    "readings",
    "inner_loops",
    "seed",
    "process",
    "attempts",
    "scores",
    "usage",
    "output",
    "details",
    "failure",
    "part",
    "ended",
)
SAMPLE_KEY = ("arm", "phase", "iteration", "case_id", "instrument", "part")
READ_COLUMNS = SAMPLE_COLUMNS[1:]
"""What ``row_sample`` takes, in this order."""
READ_AS_TEXT = ("readings", "scores", "usage", "details", "failure")
"""The JSON objects among them, which ``row_sample`` decodes itself: to have the database layer do it takes twice as
long. An output may be a number, of which SQLite's text would lose digits."""


@contextlib.contextmanager
def readable(run_id: str) -> Iterator[None]:
    """For what makes values of a run's rows: rows that are damaged are a ``StoreError`` which names the run."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"run {run_id[:13]} cannot be read: a part of it is damaged ({type(error).__name__}: {error})",
            remedy="`dyno store check` says what else is. Restore a copy made by `dyno store backup`; what the run "
            "found is in its result.json, too.",
        ) from error


def dumps(plain: object) -> str:
    """Strict JSON in ASCII, because text columns refuse the unpaired surrogates that an escape can carry."""
    return json.dumps(plain, separators=(",", ":"), allow_nan=False)


_PHASES = {phase.value: phase for phase in Phase}
_STATUSES = {status.value: status for status in Status}
_MANY = 100
"""Rows from which the quick decoder is used."""
_decode = json.JSONDecoder().raw_decode


def loads(text: str) -> Any:  # what a JSON column holds
    """JSON, without looking for the blanks around it that ``dumps`` never writes: that takes half of the time."""
    try:
        plain, end = _decode(text)
    except json.JSONDecodeError:
        return json.loads(text)
    return plain if end == len(text) else json.loads(text)


@cache
def _quick() -> tuple[Callable[[str], Any], type[Exception]]:
    """A decoder and what it raises."""
    from msgspec import MsgspecError
    from msgspec.json import Decoder

    return Decoder().decode, MsgspecError


def loads_quickly(text: str) -> Any:
    """``loads`` in a fifth of the time. What the quick decoder refuses (lone surrogates, numbers that are no floats,
    damage) is left to the other one, which takes it or says what is wrong."""
    decode, refused = _quick()
    try:
        return decode(text)
    except (refused, ValueError, RecursionError):
        return loads(text)


def decoder_of(rows: int) -> Callable[[str], Any]:
    """For what JSON columns of so many rows hold: for a few the quick one is not worth being loaded."""
    return loads_quickly if rows >= _MANY else loads


def encoded(value: object, what: str) -> str:
    """``value`` of the model as JSON text; ``what`` names it when it has no JSON form."""
    try:
        return dumps(to_plain(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{what} cannot be kept as JSON: {error}") from None


def plain_or_null(value: object, what: str) -> Any:  # what JSON columns take
    """``value`` for a nullable JSON column: null where it is empty."""
    if not value:
        return None
    return json.loads(encoded(value, what))


def digest(plain: object) -> bytes:
    """32 bytes that are equal for equal documents, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).digest()


def id_bytes(run_id: str) -> bytes:
    """The 16 bytes of a run id."""
    try:
        return uuid.UUID(run_id).bytes
    except ValueError:
        raise StoreError(
            f"{run_id!r} is not a run id", remedy="Run ids are UUIDs, as `dyno list runs` shows."
        ) from None


def id_text(run_id: bytes) -> str:
    return str(uuid.UUID(bytes=bytes(run_id)))


def sample_row(arm: int, sample: Sample, ended: bool = True) -> dict[str, object]:
    """The columns of ``samples``, JSON ones as text. This runs once per sample and is kept short for it."""
    readings = finite(sample.readings)
    what = "a sample"
    return {
        "arm": arm,
        "phase": sample.phase.value,
        "iteration": sample.iteration,
        "case_id": sample.case_id,
        "instrument": sample.instrument,
        "status": sample.status.value,
        "started_at_ms": sample.started_at_ms,
        "duration_s": readings.pop("duration_s", None),
        "cpu_s": readings.pop("cpu_s", None),
        "readings": encoded(readings, what) if readings else None,
        "inner_loops": sample.inner_loops,
        "seed": sample.seed,
        "process": sample.process,
        "attempts": sample.attempts,
        "scores": encoded(sample.scores, what) if sample.scores else None,
        "usage": encoded(finite(sample.usage), what) if sample.usage else None,
        "output": None if sample.output is None else encoded(sample.output, what),
        "details": encoded(sample.details, what) if sample.details else None,
        "failure": None if sample.failure is None else encoded(sample.failure, what),
        "part": sample.part,
        "ended": ended,
    }


def finite(numbers: Mapping[str, float]) -> dict[str, float]:
    """The numbers that have a JSON form."""
    try:
        return {name: number for name, number in numbers.items() if isfinite(number)}
    except TypeError as error:
        raise StoreError(f"a reading is not a number: {error}") from None


def row_sample(row: Sequence[Any], arm_id: str, decode: Callable[[str], Any] = loads) -> Sample:
    """The sample of a row of ``READ_COLUMNS`` with ``READ_AS_TEXT`` as text; by position, as runs have thousands."""
    (
        phase,
        iteration,
        case_id,
        instrument,
        status,
        started_at_ms,
        duration_s,
        cpu_s,
        told,
        inner_loops,
        seed,
        process,
        attempts,
        scores,
        usage,
        output,
        details,
        failure,
        part,
        _,
    ) = row
    readings: dict[str, float] = {}
    if duration_s is not None:
        readings["duration_s"] = duration_s
    if cpu_s is not None:
        readings["cpu_s"] = cpu_s
    if told is not None:
        for name, number in (decode(told) or {}).items():
            readings[name] = float(number)
    return Sample(
        arm_id,
        _PHASES[phase],
        iteration,
        _STATUSES[status],
        started_at_ms,
        readings,
        case_id,
        instrument,
        seed,
        process,
        inner_loops,
        attempts,
        (decode(scores) or {}) if scores is not None else {},
        (decode(usage) or {}) if usage is not None else {},
        output,
        (decode(details) or {}) if details is not None else {},
        decoded(Failure, decode(failure), "a failure") if failure is not None else None,
        part,
    )


def arm_row(run: int, position: int, arm: Arm, planned: int) -> dict[str, object]:
    """The columns of ``arms`` that are known before anything ran."""
    return {
        "run": run,
        "arm_id": arm.arm_id,
        "position": position,
        "name": arm.name,
        "experiment": arm.experiment,
        "params": plain_or_null(arm.params, f"the parameters of {arm.name}"),
        "benchmark": arm.benchmark,
        "agent": arm.agent,
        "side": None if arm.side is None else arm.side.value,
        "planned": planned,
    }


def header_row(header: RunResult) -> dict[str, object]:
    """The columns of ``runs`` that may change while a run is open."""
    return {
        "status": header.status.value,
        "finished_at": header.finished_at,
        "vcs": None if header.vcs is None else to_plain(header.vcs),
        "tags": plain_or_null(header.tags, "the tags"),
        "notes": header.notes,
        "warnings": plain_or_null(header.warnings, "the warnings"),
        "overhead_s": header.overhead_s,
        "stopped_because": header.stopped_because,
        "pricing": plain_or_null(header.pricing, "the prices"),
        "targets": plain_or_null(header.targets, "the targets"),
        "workspace": header.workspace,
        "origin": plain_or_null(header.origin, "the origin"),
        "form": plain_or_null(header.form, "the form"),
    }


def finite_metrics(metrics: Mapping[str, MetricSummary]) -> dict[str, MetricSummary]:
    """The summaries whose figures are all finite: the others describe readings that are left out as well."""
    return {name: summary for name, summary in metrics.items() if _is_finite(summary)}


def _is_finite(summary: MetricSummary) -> bool:
    figures = [getattr(summary, field.name) for field in fields(summary)]
    figures.extend(summary.ci or ())
    return all(isfinite(figure) for figure in figures if isinstance(figure, float))


def decoded(kind: type[T], plain: object, what: str) -> T:
    """A value of the model from a JSON column."""
    try:
        return from_plain(kind, plain)
    except (TypeError, ValueError) as error:
        raise StoreError(f"the store holds {what} that cannot be read: {error}") from None
