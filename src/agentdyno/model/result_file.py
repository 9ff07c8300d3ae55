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


def decode_result(text: str, where: str) -> RunResult:
    """A ``RunResult`` from the text of a result file; ``where`` names the file in errors."""
    try:
        plain = json.loads(text)
    except ValueError as error:
        cut_off = text.strip() and not text.rstrip().endswith("}")
        raise ResultError(
            "the file is cut off" if cut_off else f"not JSON: {error}",
            where=where,
            remedy="If the run is in the store, `dyno report RUN --format json` writes the file again.",
        ) from None
    if not isinstance(plain, dict) or "schema_version" not in plain or "run_id" not in plain:
        raise ResultError(
            "not an agentdyno result (no schema_version and run_id)",
            where=where,
            remedy="Give a result.json that `dyno run` wrote, or the id of a run in the store.",
        )
    version = plain["schema_version"]
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise ResultError(
            f"schema version {version!r} is newer than this agentdyno reads (up to {SCHEMA_VERSION})",
            where=where,
            remedy="Upgrade agentdyno.",
        )
    if version < 1:
        plain = _upgrade_0(plain)
    try:
        return from_plain(RunResult, {**plain, "schema_version": SCHEMA_VERSION})
    except (TypeError, ValueError) as error:
        raise ResultError(f"damaged result: {error}", where=where) from None


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
