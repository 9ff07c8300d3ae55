"""The view ``benchmark_executions``: one row per execution, with the columns that other tools expect.

Milliseconds and MiB live here and nowhere below. UUIDs and times are text on SQLite (times in ISO 8601, UTC),
``uuid`` and ``timestamp`` on PostgreSQL; documents are ``json``. Two columns are worked out when they are read, for
successful executions that are not simulated, held against whole runs of the suite (no quick or limited ones):

- ``percentile_rank``: in how many of a hundred other agents' latest successes of this benchmark accuracy is lower;
- ``deviation_from_baseline``: accuracy relative to the benchmark's baseline, -0.1 being a tenth below. The baseline
  is the score that the suite declares, else the first success of the agent that it names.

Revisions 0002 and 0007 create the view from this text: another form of it is another name, for another revision.
"""

from __future__ import annotations

from collections.abc import Mapping

_SELECT = """
CREATE VIEW benchmark_executions AS
SELECT
    {e_uid} AS id,
    {s_uid} AS suite_id,
    {b_uid} AS benchmark_id,
    {a_uid} AS agent_id,
    a.version AS agent_version,
    {w_uid} AS workspace_id,
    n.document AS execution_environment,
    c.document AS model_configuration,
    {started_at} AS start_time,
    {finished_at} AS end_time,
    CAST(ROUND(e.duration_s * 1000) AS BIGINT) AS total_duration_ms,
    e.accuracy AS accuracy_score,
    e.speed AS speed_score,
    e.efficiency AS efficiency_score,
    e.cost AS cost_score,
    e.reliability AS reliability_score,
    e.tokens_used AS tokens_used,
    e.api_calls AS api_calls_made,
    e.memory_peak_bytes / {mib} AS memory_peak_mb,
    100.0 * e.cpu_s / NULLIF(e.duration_s, 0) AS cpu_usage_percent,
    e.correctness AS output_correctness,
    e.completeness AS output_completeness,
    e.relevance AS output_relevance,
    CASE WHEN {judged} THEN (
        SELECT {hundred} * SUM(CASE WHEN l.accuracy < e.accuracy THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0)
        FROM latest l
        WHERE l.benchmark = e.benchmark AND l.agent <> e.agent AND l.accuracy IS NOT NULL{whole_latest}
    ) END AS percentile_rank,
    CASE WHEN {judged} THEN e.accuracy / NULLIF(COALESCE(b.baseline_accuracy, (
        SELECT f.accuracy
        FROM executions f JOIN agents g ON g.id = f.agent
        WHERE f.benchmark = e.benchmark AND f.status = 'success' AND f.simulated = 0{whole_first}
            AND (g.name = b.baseline_agent OR g.name || '@' || g.version = b.baseline_agent)
        ORDER BY f.created_at, f.id LIMIT 1
    )), 0) - 1 END AS deviation_from_baseline,
    e.status AS status,
    e.error_details AS error_details,
    {created_at} AS created_at
FROM executions e
JOIN benchmarks b ON b.id = e.benchmark
JOIN suites s ON s.id = b.suite
JOIN agents a ON a.id = e.agent
JOIN workspaces w ON w.id = e.workspace
LEFT JOIN environments n ON n.id = e.environment
LEFT JOIN configurations c ON c.id = e.configuration
"""

_JUDGED = "e.status = 'success' AND e.simulated = 0 AND e.accuracy IS NOT NULL"
_UIDS = {f"{table}_uid": f"{table}.uid" for table in "esbaw"}
_TIMES = {name: f"e.{name}" for name in ("started_at", "finished_at", "created_at")}


def _sqlite_uuid(column: str) -> str:
    parts = " || '-' || ".join(f"substr(hex({column}), {at}, {n})" for at, n in _UUID_PARTS)
    return f"lower({parts})"


def _sqlite_time(column: str) -> str:
    return f"strftime('%Y-%m-%dT%H:%M:%S', {column} / 1000, 'unixepoch') || printf('.%03dZ', {column} % 1000)"


_UUID_PARTS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))

_WHOLE = {"whole_latest": " AND l.whole = 1", "whole_first": " AND f.form IN ('full', 'unknown')"}


def _views(whole: Mapping[str, str]) -> dict[str, str]:
    return {
        "sqlite": _SELECT.format(
            **whole,
            judged=_JUDGED,
            mib="1048576.0",
            hundred="100.0",
            **{name: _sqlite_uuid(column) for name, column in _UIDS.items()},
            **{name: _sqlite_time(column) for name, column in _TIMES.items()},
        ),
        "postgresql": _SELECT.format(
            **whole,
            judged=_JUDGED,
            mib="CAST(1048576 AS double precision)",
            hundred="CAST(100 AS double precision)",
            **{name: f"CAST(encode({column}, 'hex') AS uuid)" for name, column in _UIDS.items()},
            **{
                name: f"(TIMESTAMP '1970-01-01 00:00:00' + {column} * INTERVAL '1 millisecond')"
                for name, column in _TIMES.items()
            },
        ),
    }


CREATE_VIEW_0002 = _views(dict.fromkeys(_WHOLE, ""))
"""The statement by dialect, as revision 0002 made it: every execution was taken for a whole one."""
CREATE_VIEW = _views(_WHOLE)
"""The statement by dialect, since revision 0007."""
