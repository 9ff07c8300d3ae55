"""Figures of the service in Prometheus' text format."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
DASHBOARD = "dashboard"
REFUSED = "refused"
UNKNOWN = "unknown"
"""Routes of what no route answers: files, requests without a right, paths that are not there."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class Metrics:
    """Counts requests by route, method and status, and how long each route took, in seconds."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._durations: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        place = next((i for i, most in enumerate(BUCKETS_S) if seconds <= most), len(BUCKETS_S))
        with self._lock:
            self._requests[route, method, status] += 1
            self._durations.setdefault(route, [0] * (len(BUCKETS_S) + 1))[place] += 1
            self._seconds[route] = self._seconds.get(route, 0.0) + seconds

    def text(self, jobs: Mapping[str, int], generation: int) -> str:
        """``jobs`` by status (``queued`` is the depth of the queue); ``generation`` of the store."""
        with self._lock:
            requests, seconds = dict(self._requests), dict(self._seconds)
            durations = {route: list(counts) for route, counts in self._durations.items()}
        lines = _head("agentdyno_build_info", "gauge", "The version that runs.")
        lines.append(_line("agentdyno_build_info", {"version": self._version}, 1))
        lines += _head("agentdyno_http_requests_total", "counter", "Requests by route, method and status.")
        for (route, method, status), count in sorted(requests.items()):
            labels = {"route": route, "method": method, "status": str(status)}
            lines.append(_line("agentdyno_http_requests_total", labels, count))
        lines += _head("agentdyno_http_request_duration_seconds", "histogram", "Time from request to full answer.")
        for route, counts in sorted(durations.items()):
            lines += _histogram("agentdyno_http_request_duration_seconds", route, counts, seconds[route])
        lines += _head("agentdyno_jobs", "gauge", "Jobs by status.")
        lines += [_line("agentdyno_jobs", {"status": status}, count) for status, count in jobs.items()]
        lines += _head("agentdyno_queue_depth", "gauge", "Jobs that wait for a worker.")
        lines.append(_line("agentdyno_queue_depth", {}, jobs.get("queued", 0)))
        lines += _head("agentdyno_store_generation", "gauge", "Changes to executions of the store so far.")
        lines.append(_line("agentdyno_store_generation", {}, generation))
        return "\n".join(lines) + "\n"


class Observed:
    """Counts every request under the path of its route, never under what the client typed."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 500
        began = time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            route = scope.get("dyno.route") or getattr(scope.get("route"), "path", None) or UNKNOWN
            method = scope["method"] if scope["method"] in _METHODS else "OTHER"
            self._metrics.count(str(route), method, status, time.perf_counter() - began)


def _histogram(name: str, route: str, counts: Sequence[int], seconds: float) -> list[str]:
    lines, total = [], 0
    for most, count in zip((*(f"{most:g}" for most in BUCKETS_S), "+Inf"), counts, strict=True):
        total += count
        lines.append(_line(f"{name}_bucket", {"route": route, "le": most}, total))
    return [*lines, _line(f"{name}_sum", {"route": route}, seconds), _line(f"{name}_count", {"route": route}, total)]


def _head(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value!r}" if inside else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
