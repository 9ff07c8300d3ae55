"""Scorers that raise: what the answer gets, what is said, and which line is named."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from agentdyno import Unscorable
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Case, Response, Score
from agentdyno.model.sample import FailureKind
from agentdyno.model.suite import ScorerUse
from agentdyno.scorers.adapt import make_scorer
from agentdyno.scorers.raised import place_of, raised_score

SCORERS = """
import asyncio
import json

from agentdyno import CaseFailed, Unscorable
from agentdyno.model.sample import FailureKind

from reading import read


def direct(output):
    return json.loads(output)["answer"] == 1


def helped(output):
    return read(output) == 1


async def waiting(output):
    await asyncio.sleep(0)
    return json.loads(output) == 1


class Strict:
    def score(self, case, response):
        return {"form": 1.0, "facts": json.loads(response.output)}


def silent(output):
    raise KeyError


def leaves(output):
    raise SystemExit(3)


class Mute(Exception):
    def __str__(self):
        raise ValueError


def mute(output):
    raise Mute


def long(output):
    raise ValueError("x" * 10_000)


def undecided(output):
    raise Unscorable("the case has no reference")


def wordless(output):
    raise Unscorable


def unreached(output):
    raise CaseFailed(FailureKind.RESET, "the connection was reset")
"""
READING = """
import json


def read(text):
    return json.loads(text)
"""


def line_of(text: str, source: str = SCORERS, place: int = 0) -> int:
    return [number for number, line in enumerate(source.splitlines(), 1) if line.strip() == text][place]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "mine.py").write_text(SCORERS)
    (tmp_path / "reading.py").write_text(READING)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def judge(folder: Path, name: str, output: object = "Sorry, I cannot help") -> Score:
    made = make_scorer(ScorerUse(name if "@" in name else f"mine.py@{name}"), base_dir=folder)
    return asyncio.run(made.score(Case("c-1", "question", "yes"), Response(output)))


def problem(score: Score) -> Mapping[str, object]:
    found = score.details["problem"]
    assert isinstance(found, dict)
    return found


def test_an_answer_on_which_a_scorer_raises_gets_0_with_the_line_of_the_scorer(folder: Path) -> None:
    score = judge(folder, "direct")
    line = line_of('return json.loads(output)["answer"] == 1')
    assert score.values == {"correctness": 0.0}
    assert score.explanation == (
        f"scorer mine.py@direct raised JSONDecodeError: Expecting value: line 1 column 1 (char 0) (mine.py:{line})"
    )
    assert problem(score) == {
        "code": "scorer_raised",
        "message": score.explanation,
        "error": "JSONDecodeError",
        "where": f"mine.py:{line}",
    }


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("helped", ("reading.py", "return json.loads(text)", READING)),
        ("waiting", ("mine.py", "return json.loads(output) == 1", SCORERS)),
        ("Strict", ("mine.py", 'return {"form": 1.0, "facts": json.loads(response.output)}', SCORERS)),
        ("silent", ("mine.py", "raise KeyError", SCORERS)),
        ("leaves", ("mine.py", "raise SystemExit(3)", SCORERS)),
    ],
)
def test_the_innermost_line_of_the_users_own_files_is_named(
    folder: Path, name: str, place: tuple[str, str, str]
) -> None:
    file, text, source = place
    score = judge(folder, name)
    assert score.values == {"correctness": 0.0}
    assert score.explanation.endswith(f"({file}:{line_of(text, source)})")


def test_an_exception_without_words_or_with_too_many_is_told_all_the_same(folder: Path) -> None:
    assert judge(folder, "silent").explanation.startswith("scorer mine.py@silent raised KeyError (")
    assert judge(folder, "mute").explanation.startswith("scorer mine.py@mute raised Mute (mine.py:")
    long = judge(folder, "long").explanation
    assert len(long) < 700
    line = line_of('raise ValueError("x" * 10_000)')
    assert long.endswith(f"(mine.py:{line})"), "the place is never cut off"


def test_files_are_named_from_the_folder_of_the_suite(folder: Path) -> None:
    below = folder / "judges"
    below.mkdir()
    (below / "strict.py").write_text("def sure(output):\n    return 1 / 0\n")
    score = judge(folder, "judges/strict.py@sure")
    assert score.explanation.endswith("(judges/strict.py:2)")


def test_a_scorer_of_the_library_itself_has_no_line_of_the_user(folder: Path) -> None:
    with pytest.raises(ValueError, match="Expecting value") as caught:
        json.loads("no")
    assert caught.value.__traceback__ is not None
    raised = caught.value.with_traceback(caught.value.__traceback__.tb_next)  # without the frame of this test
    assert place_of(raised, "", folder) == ""
    assert place_of(raised, json.decoder.__file__, folder).startswith("decoder.py:"), (
        "its own file counts where it is defined there"
    )


def test_unscorable_is_no_verdict_and_says_why(folder: Path) -> None:
    score = judge(folder, "undecided")
    assert score.values == {"correctness": None}
    assert score.explanation == "scorer mine.py@undecided gave no verdict: the case has no reference"
    assert problem(score)["code"] == "unscorable"
    assert judge(folder, "wordless").explanation == "scorer mine.py@wordless gave no verdict"


def test_a_judge_that_cannot_be_reached_is_not_the_fault_of_the_answer(folder: Path) -> None:
    score = judge(folder, "unreached")
    assert score.values == {"correctness": None}
    assert "its judge did not answer: the connection was reset" in score.explanation
    error = CaseFailed(FailureKind.RATE_LIMITED, "429")
    assert problem(raised_score(error, "s", "", folder))["code"] == "judge_failed"


def test_unscorable_is_an_exception_that_can_be_caught_and_carries_a_text() -> None:
    with pytest.raises(Unscorable, match="no reference"):
        raise Unscorable("no reference")
