"""Result files: the text of a ``RunResult``, of this schema version or an older one.

The history of versions:

1. the first.
0. drafts: ``arms[].samples`` had ``duration`` and ``cpu`` beside ``readings`` and no ``inner_loops``;
   ``metrics[].ci`` was written ``ci_low`` and ``ci_high``. Read, never written.
"""

from __future__ import annotations

import json
from typing import Any

from agentdyno.errors import ResultError
from agentdyno.model.codec import from_plain
from agentdyno.model.result import SCHEMA_VERSION, RunResult

_WRITE_AGAIN = "If the run is in the store, `dyno show RUN --json > result.json` writes it again."


def decode_result(text: str, where: str) -> RunResult:
    """A ``RunResult`` from the text of a result file; ``where`` names the file in errors."""
    plain = _parse(text, where)
    if not isinstance(plain, dict) or "schema_version" not in plain or "run_id" not in plain:
        raise ResultError(
            "not an agentdyno result (no schema_version and run_id)",
            where=where,
            remedy="Give a result.json that `dyno run` wrote, or the id of a run in the store.",
        )
    version = plain["schema_version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise ResultError(
            f"damaged result: schema_version: expected a whole number, got {version!r}",
            where=where,
            remedy=_WRITE_AGAIN,
        )
    if version > SCHEMA_VERSION:
        raise ResultError(
            f"schema version {version!r} is newer than this agentdyno reads (up to {SCHEMA_VERSION})",
            where=where,
            remedy="Upgrade agentdyno.",
        )
    try:
        if version < 1:
            plain = _upgrade_0(plain)
        return from_plain(RunResult, {**_with_seed(plain), "schema_version": SCHEMA_VERSION})
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ResultError(f"damaged result: {error}", where=where, remedy=_WRITE_AGAIN) from None


def _with_seed(plain: dict[str, Any]) -> dict[str, Any]:
    """A file whose spec names no seed is of a run with 0; today's default is another."""
    spec = plain.get("spec")
    return {**plain, "spec": {"seed": 0, **spec}} if isinstance(spec, dict) else plain


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        problem = "not JSON of ours: nested too deep"
    except ValueError as error:
        problem = "the file is cut off" if _is_cut_off(text, error) else f"not JSON: {error}"
        if not text.strip():
            problem = "the file is empty"
    raise ResultError(problem, where=where, remedy=_WRITE_AGAIN)


def _is_cut_off(text: str, error: ValueError) -> bool:
    """Whether a JSON object begins and then only its end is missing: the parser ran out of text."""
    if not text.lstrip().startswith("{") or not isinstance(error, json.JSONDecodeError):
        return False
    rest = text[error.pos :].strip()
    # The last token may be half there: a string without its end, or the beginning of a word or a number.
    half_a_token = any(word.startswith(rest) for word in ("true", "false", "null", "-", ".", "e-", "e+"))
    return half_a_token or error.msg.startswith(("Unterminated", "Invalid \\"))


def _upgrade_0(plain: dict[str, Any]) -> dict[str, Any]:
    arms = []
    for arm in plain.get("arms", []):
        metrics = {}
        for name, metric in arm.get("metrics", {}).items():
            low, high = metric.get("ci_low"), metric.get("ci_high")
            metrics[name] = {**metric, "ci": None if low is None or high is None else [low, high]}
        samples = []
        for sample in arm.get("samples", []):
            readings = dict(sample.get("readings", {}))
            for old, new in (("duration", "duration_s"), ("cpu", "cpu_s")):
                if sample.get(old) is not None:
                    readings.setdefault(new, sample[old])
            samples.append({**sample, "readings": readings})
        arms.append({**arm, "metrics": metrics, "samples": samples})
    return {**plain, "arms": arms}
