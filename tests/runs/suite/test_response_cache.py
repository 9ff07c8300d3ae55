"""Answers kept for people who work on scorers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agentdyno.errors import StoreError
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


def test_a_file_that_is_no_database_says_what_to_do_with_it(tmp_path: Path) -> None:
    (tmp_path / "answers.db").write_text("nothing of the kind, and long enough to be looked at as a database\n" * 20)
    with pytest.raises(StoreError) as refused:
        FileCache(tmp_path / "answers.db")
    assert (refused.value.where, "Move the file away" in str(refused.value)) == (str(tmp_path / "answers.db"), True)


def test_what_cannot_be_kept_or_read_is_told_once_and_ends_no_run(
    cache: FileCache, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache.put("arm", CASE, 0, ANSWER)
    with closing(sqlite3.connect(tmp_path / "deep" / "answers.db")) as file, file:
        file.execute("UPDATE answers SET response = '{cut o'")
    assert cache.get("arm", CASE, 0) is None
    with closing(sqlite3.connect(tmp_path / "deep" / "answers.db")) as file, file:
        file.execute("DROP TABLE answers")
    cache.put("arm", CASE, 1, ANSWER)
    assert cache.get("arm", CASE, 1) is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
