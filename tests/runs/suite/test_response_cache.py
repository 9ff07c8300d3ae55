"""Answers kept for people who work on scorers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.model import Case, Event, Response, Usage
from agentdyno.runs.suite.response_cache import FileCache

CASE = Case("a", "What?", "Yes", {"lang": "en"})
ANSWER = Response(
    "Yes", Usage(3, 1), 0.5, 2, (Event("message", 0.1, "user", "What?"),), {"t": 0}, {"ttft_s": 0.2}, "m"
)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[FileCache]:
    opened = FileCache(tmp_path / "deep" / "answers.db")
    yield opened
    opened.close()


def test_an_answer_comes_back_whole_and_outlives_the_process(cache: FileCache, tmp_path: Path) -> None:
    cache.put("arm", CASE, 0, ANSWER)
    assert cache.get("arm", CASE, 0) == ANSWER
    another = FileCache(tmp_path / "deep" / "answers.db")
    assert another.get("arm", CASE, 0) == ANSWER
    another.close()


def test_agent_input_and_epoch_are_the_key_and_the_target_is_not(cache: FileCache) -> None:
    cache.prepare({"arm": "agent 1", "other": "agent 2", "later": "agent 1"}, lambda value: value)
    cache.put("arm", CASE, 0, ANSWER)
    assert cache.get("later", Case("a", "What?", "No", {"lang": "en"}), 0) == ANSWER, (
        "another rubric, the same question"
    )
    assert cache.get("other", CASE, 0) is None
    assert cache.get("arm", CASE, 1) is None
    assert cache.get("arm", Case("a", "Who?", "Yes", {"lang": "en"}), 0) is None
    assert cache.get("arm", Case("a", "What?", "Yes"), 0) is None


def test_secrets_are_taken_out_before_an_answer_is_kept(cache: FileCache, tmp_path: Path) -> None:
    def redact(value: object) -> object:
        assert isinstance(value, dict)
        return {**value, "output": "[KEY]"}

    cache.prepare({}, redact)
    cache.put("arm", CASE, 0, Response("s3cret-key"))
    kept = cache.get("arm", CASE, 0)
    assert kept is not None
    assert kept.output == "[KEY]"
    assert b"s3cret-key" not in b"".join(path.read_bytes() for path in (tmp_path / "deep").iterdir())


def test_an_answer_that_is_no_json_is_not_kept(cache: FileCache) -> None:
    cache.put("arm", CASE, 0, Response(object()))
    assert cache.get("arm", CASE, 0) is None
