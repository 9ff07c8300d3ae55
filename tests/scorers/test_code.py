from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentdyno.model.case import Case, Response
from agentdyno.scorers.code import Code
from agentdyno.scorers.code_tests import find_code, split_tests
from tests.runner.building import children, descriptors, is_running
from tests.scorers.building import complaint, judged
from tests.waiting import wait_until

TESTS = """
import math
LARGE = 10**9

assert add(1, 2) == 3
assert add(-1, 1) == 0
assert add(LARGE, 1) == LARGE + 1, "large numbers"

def test_floats():
    assert math.isclose(add(0.1, 0.2), 0.3)
"""
GOOD = "Here you are:\n```python\ndef add(a, b):\n    return a + b\n```\nEnjoy!"
PATIENT = Code(time_limit_s=120)


def test_code_that_passes_all_tests_is_right() -> None:
    before = (children(), descriptors())
    score = judged(PATIENT, GOOD, TESTS)
    assert score.values == {"correctness": 1.0, "completeness": 1.0}
    assert score.details == {"passed": 4, "tests": 4}
    assert (children(), descriptors()) == before


def test_each_test_counts_and_failures_are_told() -> None:
    score = judged(
        PATIENT, "```python\nprint('hello')\ndef add(a, b):\n    return a + b if a < 10 else 0\n```", TESTS
    )
    assert score.values == {"correctness": 0.0, "completeness": 0.75}
    assert "3 of 4 tests pass" in score.explanation
    assert "add(LARGE, 1) == LARGE + 1" in score.explanation
    assert "AssertionError: large numbers" in score.explanation
    assert "hello" in score.explanation


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("```python\ndef add(a, b) return\n```", "the code does not load: SyntaxError"),
        ("```python\nimport no_such_module_here\n```", "ModuleNotFoundError"),
        ("```python\nraise SystemExit(0)\n```", "SystemExit"),
        ("```python\nimport os; os._exit(0)\n```", "ended early with exit status 0"),
        ("```python\nimport os; os.kill(os.getpid(), 9)\n```", "ended by signal 9"),
        ("I do not know.", "no Python"),
        ("", "no Python"),
    ],
)
def test_code_that_does_not_load_fails_every_test(answer: str, told: str) -> None:
    score = judged(PATIENT, answer, TESTS)
    assert score.values == {"correctness": 0.0, "completeness": 0.0}
    assert told in score.explanation


def test_ending_the_process_inside_a_test_is_no_success() -> None:
    code = "import os\ndef add(a, b):\n    return a + b if a == 1 else os._exit(0)"
    score = judged(PATIENT, code, TESTS)
    assert score.values == {"correctness": 0.0, "completeness": 0.25}
    assert "ended early with exit status 0" in score.explanation


def test_a_forged_report_is_not_believed() -> None:
    code = (
        "import json, os\n"
        "with open('report', 'a') as file:\n"
        "    for step in range(-1, 9):\n"
        "        file.write(json.dumps({'word': '', 'step': step, 'error': None}) + chr(10))\n"
        "os._exit(0)"
    )
    assert judged(PATIENT, code, TESTS).values == {"correctness": 0.0, "completeness": 0.0}


def test_endless_code_is_ended_and_keeps_what_it_passed() -> None:
    before = children()
    code = "def add(a, b):\n    while a == -1: pass\n    return a + b"
    score = judged(Code(time_limit_s=3), code, TESTS)
    assert score.values == {"correctness": 0.0, "completeness": 0.25}
    assert "not finished in 3 s" in score.explanation
    assert children() == before


def test_code_that_floods_its_output_is_ended() -> None:
    score = judged(Code(time_limit_s=120), "while True: print('x' * 1000)", TESTS)
    assert score.values["correctness"] == 0.0
    assert "printed more than 1,048,576 bytes" in score.explanation


def test_memory_is_limited() -> None:
    code = "def add(a, b):\n    return len(bytearray(2**30)) and a + b"
    score = judged(Code(time_limit_s=120, memory_bytes=256 * 1024**2), code, TESTS)
    assert score.values == {"correctness": 0.0, "completeness": 0.0}
    assert "MemoryError" in score.explanation


def test_what_the_code_started_does_not_outlive_it() -> None:
    code = (
        "import subprocess, sys\n"
        "print(subprocess.Popen([sys.executable, '-c', 'while 1: pass']).pid)\n"
        "def add(a, b): return a + b"
    )
    score = judged(PATIENT, code, TESTS)
    assert score.values["correctness"] == 1.0
    assert not is_running(int(str(score.details["output"])))


def test_cancelling_ends_the_code(tmp_path: Path) -> None:
    started = tmp_path / "started"

    async def cancel() -> None:
        code = f"open({str(started)!r}, 'w').close()\nwhile True: pass"
        task = asyncio.create_task(Code(time_limit_s=60).score(Case("c", "q", TESTS), Response(code)))
        await asyncio.to_thread(wait_until, started.exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert children() == before

    before = children()
    asyncio.run(cancel())


def test_the_environment_is_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_API_KEY", "sk-1")
    code = (
        "import os\n"
        "assert 'SECRET_API_KEY' not in os.environ\n"
        "assert os.getcwd() == os.environ['HOME']\n"
        "def add(a, b): return a + b"
    )
    assert judged(PATIENT, code, TESTS).values["correctness"] == 1.0


def test_tests_may_be_a_list_or_a_check_of_an_entry_point() -> None:
    score = judged(PATIENT, GOOD, ["assert add(1, 1) == 2", "assert add(1, 1) == 3"])
    assert score.values["completeness"] == 0.5
    check = "def check(candidate):\n    assert candidate(2, 2) == 4\n"
    assert judged(PATIENT, GOOD, tests=check, entry_point="add").values["correctness"] == 1.0
    again = "async def test_one():\n    assert add(1, 1) == 2\n"
    assert judged(PATIENT, GOOD, again).values["correctness"] == 1.0


def test_a_completion_may_follow_the_code_in_the_input() -> None:
    case = Case("c", "def add(a, b):\n", TESTS)
    score = asyncio.run(Code(time_limit_s=120, prepend_input=True).score(case, Response("    return a + b")))
    assert score.values["correctness"] == 1.0


def test_a_failed_preparation_is_told_first() -> None:
    score = judged(PATIENT, GOOD, "import no_such_module_here\nassert add(1, no_such_module_here.x) == 1")
    assert score.explanation.splitlines()[1].startswith("import no_such_module_here: ModuleNotFoundError")


def test_the_code_is_found_in_an_answer() -> None:
    assert find_code("```py\nx = 1\n```\ntext\n```bash\npip install x\n```\n```\ny = 2\n```") == "x = 1\n\n\ny = 2\n"
    assert find_code("```python\nx = 1\n```\n```python\n>>> x\n1\n```") == "x = 1\n"
    assert find_code("x = 1") == "x = 1"
    assert find_code("not python at all") is None


def test_tests_are_split() -> None:
    steps = split_tests(TESTS, None)
    assert [step.test for step in steps if step.test][:2] == ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"]
    assert steps[-1].test == "test_floats()"


@pytest.mark.parametrize("target", [None, "", "x = 1", "assert (", 5, ["assert ("], []])
def test_targets_without_tests_are_refused_beforehand(target: object) -> None:
    assert isinstance(complaint(Code(), target), str)
    assert complaint(Code(), TESTS) is None


def test_limits_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Code(time_limit_s=0)
