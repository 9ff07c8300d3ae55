from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.contracts import Scorer
from agentdyno.errors import PluginError, SpecError
from agentdyno.model.case import Case, Response, Score
from agentdyno.model.codec import encode
from agentdyno.model.suite import ScorerUse
from agentdyno.registry import names, registered
from agentdyno.registry.describe import first_line
from agentdyno.registry.source import describe_source
from agentdyno.scorers.adapt import make_scorer

BUILT_IN = {
    "exact": "agentdyno.scorers.text:Exact",
    "includes": "agentdyno.scorers.text:Includes",
    "regex": "agentdyno.scorers.pattern:Regex",
    "numeric": "agentdyno.scorers.numeric:Numeric",
    "multiple_choice": "agentdyno.scorers.choice:MultipleChoice",
    "token_f1": "agentdyno.scorers.text:TokenF1",
    "edit_similarity": "agentdyno.scorers.text:EditSimilarity",
    "json_equal": "agentdyno.scorers.json_scorers:JsonEqual",
    "json_schema": "agentdyno.scorers.json_scorers:JsonSchema",
    "code": "agentdyno.scorers.code:Code",
    "tool_calls": "agentdyno.scorers.tools:ToolCalls",
    "model_graded": "agentdyno.scorers.judge:ModelGraded",
}
SCORERS = '''
import numpy
from agentdyno.model.case import Score
from agentdyno.scorers.adapt import scorer

def same(output, target):
    return output == target

async def slow(output, target, factor: float = 1.0):
    return factor if output == target else 0.0

def everything(response, case, input, target, output):
    return {"correctness": response.output == output, "tone": 0.25, "explanation": f"{case.id} {input} {target}"}

def full():
    return Score({"correctness": 1.0}, "said", {"odd": object(), "fine": [1]})

def number(output):
    return output

def options(output, **rest):
    return rest["level"]

def broken(output):
    return 1 / 0

def of_numpy(output):
    return {"a": numpy.float32(0.5), "b": numpy.bool_(True), "c": numpy.zeros(2)}

def strangers(answer, expected):
    return 1.0

@scorer
def shouted(output):
    return output.isupper()

@scorer("renamed")
def whispered(output):
    return output.islower()

class Strict:
    """Judges strictly."""
    def __init__(self, level: int, name: str = "x"):
        if level > 9:
            raise ValueError("level is too high")
        self.level = level
    def score(self, case, response):
        return self.level / 10

class Careful:
    def check(self, case):
        return "no" if case.target is None else None
    async def score(self, case, response):
        return Score({"correctness": 2.0})

class Nothing:
    pass

class Nervous:
    def check(self, case):
        raise KeyError("target")
    def score(self, case, response):
        return None

ready = Strict(4)
constant = 5
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Holds ``mine.py``; what it registers and imports stays within the test."""
    (tmp_path / "mine.py").write_text(SCORERS)
    monkeypatch.setattr(names, "_registered", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def make(folder: Path, name: str, **options: object) -> Scorer:
    return make_scorer(ScorerUse(f"mine.py@{name}", options=options), base_dir=folder)


def judge(scorer: Scorer, output: object = "yes", target: object = "yes") -> Score:
    return asyncio.run(scorer.score(Case("c-1", "question", target), Response(output)))


def test_functions_receive_what_they_name(folder: Path) -> None:
    assert judge(make(folder, "same")).values == {"correctness": 1.0}
    assert judge(make(folder, "same"), "no").values == {"correctness": 0.0}
    assert judge(make(folder, "slow")).values == {"correctness": 1.0}
    score = judge(make(folder, "everything"))
    assert score.values == {"correctness": 1.0, "tone": 0.25}
    assert score.explanation == "c-1 question yes"
    assert judge(make(folder, "full")).explanation == "said"


def test_functions_receive_their_options(folder: Path) -> None:
    assert judge(make(folder, "slow", factor=0.5)).values == {"correctness": 0.5}
    assert judge(make(folder, "options", level=0.75)).values == {"correctness": 0.75}


def test_decorated_functions_are_known_by_name(folder: Path) -> None:
    assert judge(make(folder, "shouted"), "YES").values == {"correctness": 1.0}
    assert judge(make(folder, "renamed"), "yes").values == {"correctness": 1.0}
    assert {"shouted", "renamed"} <= set(registered("scorers"))
    assert judge(make_scorer(ScorerUse("renamed"), base_dir=folder)).values == {"correctness": 1.0}


def test_classes_and_objects_judge_too(folder: Path) -> None:
    assert judge(make(folder, "Strict", level=7)).values == {"correctness": 0.7}
    assert judge(make(folder, "ready")).values == {"correctness": 0.4}
    careful = make(folder, "Careful")
    assert careful.check(Case("c", "q")) == "no"
    assert careful.check(Case("c", "q", "t")) is None
    assert "KeyError" in (make(folder, "Nervous").check(Case("c", "q")) or "")


@pytest.mark.parametrize(
    ("output", "value", "code"),
    [
        (0.5, 0.5, None),
        (1, 1.0, None),
        (True, 1.0, None),
        (1 + 1e-12, 1.0, None),
        (None, None, None),
        (1.5, None, "out_of_range"),
        (-0.1, None, "out_of_range"),
        (float("nan"), None, "not_a_number"),
        (float("inf"), None, "out_of_range"),
        (10**400, None, "out_of_range"),
        ("good", None, "wrong_type"),
        ([1.0], None, "wrong_type"),
        ({}, None, "wrong_type"),
    ],
)
def test_results_are_numbers_in_0_to_1_or_unknown(
    folder: Path, output: object, value: float, code: str | None
) -> None:
    score = judge(make(folder, "number"), output)
    assert score.values == {"correctness": value}
    problem = score.details.get("problem")
    assert (problem["code"] if isinstance(problem, dict) else None) == code
    assert bool(score.explanation) == (value is None)


def test_one_bad_value_leaves_the_others(folder: Path) -> None:
    score = judge(make(folder, "number"), {"correctness": 1.0, "tone": 7, "explanation": "polite"})
    assert score.values == {"correctness": 1.0, "tone": None}
    assert score.explanation == "polite; the scorer mine.py@number returned tone = 7, which is not in 0..1"


def test_values_of_numpy_are_numbers(folder: Path) -> None:
    assert judge(make(folder, "of_numpy")).values == {"a": 0.5, "b": 1.0, "c": None}


def test_a_score_can_always_be_stored(folder: Path) -> None:
    assert '"fine":[1]' in encode(judge(make(folder, "full"))).replace(" ", "")


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("slow", {"facter": 1}, "no option 'facter'\n  Did you mean factor?"),
        ("same", {"x": 1}, "no option 'x'\n  It has no options."),
        ("slow", {"factor": "high"}, "factor: expected number, got string 'high'"),
        ("slow", {"target": "x"}, "target is what it judges"),
        ("strangers", {}, "'answer' is none of output, target, input, case, response"),
        ("Strict", {}, "needs the option level"),
        ("Strict", {"level": "x"}, "level: expected integer"),
        ("Strict", {"level": 10}, "level is too high"),
        ("Strict", {"level": 1, "nmae": "y"}, "Did you mean name?"),
        ("ready", {"level": 1}, "already built"),
    ],
)
def test_bad_options_are_refused(folder: Path, name: str, options: dict[str, object], told: str) -> None:
    with pytest.raises(SpecError) as caught:
        make(folder, name, **options)
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"scorer mine.py@{name}: ")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mine.py@smae", "Did you mean same?"),
        ("other.py@same", "no file other.py"),
        ("mine.py@Nothing", "has no score(case, response)"),
        ("mine.py@constant", "int cannot judge"),
        ("no_such_module_here:f", "No module named"),
        ("exakt_no_such", "unknown scorer"),
    ],
)
def test_what_is_no_scorer_is_refused(folder: Path, name: str, told: str) -> None:
    with pytest.raises(PluginError) as caught:
        make_scorer(ScorerUse(name), base_dir=folder)
    assert told in str(caught.value)


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_scorers_are_found_by_name_and_describe_themselves(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "built_in_scorers-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: built-in-scorers\nVersion: 1.0\n")
    rows = "\n".join(f"{key} = {value}" for key, value in BUILT_IN.items())
    (package / "entry_points.txt").write_text(f"[agentdyno.scorers]\n{rows}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(SpecError, match="no option 'no_such_option'"):
        make_scorer(ScorerUse(name, options={"no_such_option": 1}), base_dir=tmp_path)
    module, _, attribute = BUILT_IN[name].partition(":")
    described = describe_source(name, module, attribute, "")
    assert len(described.description) > 20
    assert described.description == first_line(described.description)
    assert described.description.endswith((".", "…"))
