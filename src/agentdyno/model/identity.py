"""Names that stay the same: run ids, arm ids, trial seeds."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping

SHORTEST_VERSION = 4
"""Characters of a content hash that are enough to name the version of an agent."""


def new_run_id(now_ms: int | None = None) -> str:
    """A UUIDv7: sorts by time and is unique whatever the seed. The first 13 characters tell runs apart."""
    stamp = (time.time_ns() // 1_000_000 if now_ms is None else now_ms) & ((1 << 48) - 1)
    random_bits = int.from_bytes(os.urandom(10), "big")
    value = (stamp << 80) | random_bits
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return _dashed(value)


def canonical_json(value: object) -> str:
    """One text per value: sorted keys, no blanks. What JSON cannot hold is taken as text."""
    try:
        return _dump(value)
    except TypeError:  # keys that cannot be sorted or are no text
        return _dump(_with_text_keys(value))


def _dump(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def _with_text_keys(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _with_text_keys(item) for key, item in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, (list, tuple)) else value


def digest(value: object, length: int = 16) -> str:
    """The first ``length`` hexadecimal digits of the SHA-256 of the canonical JSON."""
    # A name taken from the file system may hold half a surrogate pair, which plain UTF-8 refuses.
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:length]


def experiment_arm_id(experiment: str, params: Mapping[str, object], side: str | None = None) -> str:
    """The same experiment with the same parameters has the same arm id in every run and on every machine."""
    return digest(["experiment", experiment, dict(params), side])


def suite_arm_id(suite_digest: str, benchmark_id: str, agent: str, side: str | None = None) -> str:
    """The same agent (``name@version``) on the same benchmark of the same suite has the same arm id everywhere."""
    return digest(["suite", suite_digest, benchmark_id, agent, side])


def imported_run_id(started_at: int, content: object) -> str:
    """A UUIDv8 for a run that was made elsewhere: the same content has the same id, and it sorts by its time."""
    stamp = started_at & ((1 << 48) - 1)
    value = (stamp << 80) | int(digest(["imported", content], 20), 16)
    value = (value & ~(0xF << 76)) | (0x8 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return _dashed(value)


def derive_seed(seed: int, *parts: object) -> int:
    """A 32-bit seed that depends on the run's seed and on ``parts`` alone."""
    return int(digest([seed, *parts], 8), 16)


def _dashed(value: int) -> str:
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
