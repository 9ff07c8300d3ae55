"""One answer judged by one scorer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from agentdyno.contracts import Scorer
from agentdyno.model.case import Case, Response, Score


def judged(scorer: Scorer, output: object, target: object = None, **metadata: object) -> Score:
    return asyncio.run(scorer.score(Case("c", "question", target, metadata), Response(output)))


def correctness(scorer: Scorer, output: object, target: object = None, **metadata: object) -> float | None:
    return judged(scorer, output, target, **metadata).values["correctness"]


def complaint(scorer: Scorer, target: object = None, metadata: Mapping[str, object] | None = None) -> str | None:
    return scorer.check(Case("c", "question", target, metadata or {}))
