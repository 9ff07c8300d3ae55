"""Code that is executed against tests."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentdyno.model.case import Case, Response, Score
from agentdyno.scorers.answer import as_text, shortened
from agentdyno.scorers.code_tests import TestStep, find_code, listed, split_tests
from agentdyno.scorers.limited import EndedProcess, ProcessLimits, run_limited

_CHILD = Path(__file__).with_name("code_child.py")


@dataclass(frozen=True, slots=True)
class Code:
    """The Python in the answer passes the tests: source in the target, or ``tests`` in the case's metadata.

    ``completeness`` is the share of tests passed. It runs in a process of its own with little memory and time, in a
    folder that is removed; that stops accidents, not malice. ``prepend_input`` puts the case's input, code to be
    completed, before the answer.
    """

    time_limit_s: float = 10.0
    memory_bytes: int = 512 * 1024 * 1024
    output_bytes: int = 1024 * 1024
    prepend_input: bool = False

    def __post_init__(self) -> None:
        if not (self.time_limit_s > 0 and self.memory_bytes > 0 and self.output_bytes > 0):
            raise ValueError("time_limit_s, memory_bytes and output_bytes must be above 0")

    def check(self, case: Case) -> str | None:
        try:
            _steps(case)
        except ValueError as error:
            return str(error)
        return None

    async def score(self, case: Case, response: Response) -> Score:
        steps = _steps(case)
        text = as_text(response.output)
        code = find_code(text)
        if code is None and self.prepend_input:
            code = text
        if code is None:
            values = {"correctness": 0.0, "completeness": 0.0}
            return Score(values, f"no Python in {shortened(text)!r}")
        if self.prepend_input:
            code = f"{as_text(case.input)}\n{code}"
        word = secrets.token_hex(16)
        job = {"code": code, "steps": [step.source for step in steps], "word": word}
        limits = ProcessLimits(self.time_limit_s, self.memory_bytes, self.output_bytes)
        ended = await run_limited([sys.executable, "-I", str(_CHILD)], {"job": json.dumps(job)}, limits)
        return _judge(steps, _outcomes(ended.report, word), ended, self)


def _steps(case: Case) -> list[TestStep]:
    entry_point = case.metadata.get("entry_point")
    tests = case.metadata.get("tests", case.target)
    return split_tests(tests, entry_point if isinstance(entry_point, str) and entry_point.isidentifier() else None)


def _outcomes(report: str, word: str) -> dict[int, str | None]:
    """What each finished step raised, by its position; the answer's own code is -1."""
    found: dict[int, str | None] = {}
    for line in report.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("word") == word:
            found[row["step"]] = row["error"]
    return found


def _judge(steps: Sequence[TestStep], outcomes: dict[int, str | None], ended: EndedProcess, limits: Code) -> Score:
    end = _end(ended, limits)
    tests = [(index, step) for index, step in enumerate(steps) if step.test]
    failed = [(step, outcomes.get(index, end)) for index, step in tests if outcomes.get(index, end) is not None]
    share = 1 - len(failed) / len(tests)
    values = {"correctness": float(not failed), "completeness": share}
    details: dict[str, object] = {"passed": len(tests) - len(failed), "tests": len(tests)}
    if ended.tail:
        details["output"] = ended.tail[-2000:]
    if not failed:
        return Score(values, details=details)
    broken = outcomes.get(-1, end)
    if broken is not None:
        return Score(values, f"the code does not load: {broken}", details)
    unprepared = [
        (step, problem) for index, step in enumerate(steps) if not step.test and (problem := outcomes.get(index))
    ]
    lines = [f"{shortened(step.test or step.source)}: {problem}" for step, problem in [*unprepared, *failed]]
    told = f"{len(tests) - len(failed)} of {len(tests)} tests pass; failed:\n{listed(lines)}"
    return Score(values, told + (f"\noutput: {shortened(ended.tail, 500)}" if ended.tail else ""), details)


def _end(ended: EndedProcess, limits: Code) -> str:
    """Why a step that has not finished has not."""
    if ended.past == "time":
        return f"not finished in {limits.time_limit_s:g} s"
    if ended.past == "output":
        return f"printed more than {limits.output_bytes:,} bytes"
    if ended.code is not None and ended.code < 0:
        return f"ended by signal {-ended.code}"
    return f"ended early with exit status {ended.code}"
