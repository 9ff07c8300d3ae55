"""Local code registers itself by decorators."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from agentdyno import Experiment, Instrument
from agentdyno.errors import PluginError
from agentdyno.registry import (
    KINDS,
    register_agent,
    register_dataset,
    register_experiment,
    register_importer,
    register_instrument,
    register_reporter,
    register_scorer,
    registered,
)
from agentdyno.registry.local import load_file

pytestmark = pytest.mark.usefixtures("empty_registry")

BENCH = """
from agentdyno import register_experiment

@register_experiment("sort")
def sort(size: int = 3) -> int:
    return size
"""


def test_each_decorator_makes_its_object_known_and_gives_it_back() -> None:
    @register_experiment("e")
    class Work(Experiment):
        pass

    @register_instrument("i")
    class Watch(Instrument):
        pass

    @register_reporter("r")
    class Write:
        pass

    @register_agent("a")
    def answer(text: str) -> str:
        return text

    @register_scorer("s")
    def judge(output: str) -> bool:
        return bool(output)

    @register_dataset("d")
    def rows() -> list[str]:
        return []

    @register_importer("f")
    class Read:
        pass

    found = {kind: {name: item.target for name, item in registered(kind).items()} for kind in KINDS}
    assert found == {
        "experiments": {"e": Work},
        "instruments": {"i": Watch},
        "reporters": {"r": Write},
        "agents": {"a": answer},
        "scorers": {"s": judge},
        "datasets": {"d": rows},
        "importers": {"f": Read},
        "kinds": {},
    }
    assert registered("experiments")["e"].origin.startswith(f"{__file__}:")


def test_functions_can_be_experiments_and_instruments() -> None:
    @register_experiment("f")
    def work() -> int:
        return 1

    @register_instrument("quiet", perturbs=False)
    def watch(readings: dict[str, Any]) -> None: ...

    assert work() == 1
    assert registered("experiments")["f"].target is work
    assert watch.perturbs is False  # type: ignore[attr-defined]


def test_whether_an_instrument_perturbs_stays_its_own_word_unless_the_decorator_says_otherwise() -> None:
    class Quiet(Instrument):
        perturbs = False

    assert register_instrument("a")(Quiet).perturbs is False
    assert register_instrument("b", perturbs=True)(Quiet).perturbs is True


def test_a_second_object_of_the_same_name_is_refused_naming_both_origins(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text(BENCH)
    second.write_text("\n" + BENCH)
    load_file(first)
    with pytest.raises(PluginError) as caught:
        load_file(second)
    assert caught.value.message == f"two experiments are called 'sort': {first}:4 and {second}:5"
    assert caught.value.remedy == "Rename one of them."


def test_two_objects_of_one_file_cannot_share_a_name() -> None:
    @register_experiment("same")
    def one() -> None: ...

    with pytest.raises(PluginError, match="two experiments are called 'same'"):

        @register_experiment("same")
        def two() -> None: ...


def test_the_same_name_may_stand_for_different_kinds() -> None:
    register_experiment("x")(lambda: 1)
    register_instrument("x")(lambda readings: None)
    assert set(registered("experiments")) == set(registered("instruments")) == {"x"}


def test_executing_the_same_file_again_replaces_what_it_registered(tmp_path: Path) -> None:
    file = tmp_path / "bench.py"
    file.write_text(BENCH)
    first = load_file(file)
    del sys.modules[first.__name__]
    second = load_file(file)
    assert first is not second
    assert registered("experiments")["sort"].target is second.sort


def test_an_instance_may_be_registered_again_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "watch.py"
    file.write_text(
        "from agentdyno import Instrument, register_instrument\n"
        "class Watch(Instrument):\n    pass\n"
        "register_instrument('w')(Watch())\n"
    )
    for _ in range(2):
        module = load_file(file)
        del sys.modules[module.__name__]
    assert registered("instruments")["w"].origin == f"{file}:2"


def test_a_wrapped_function_counts_as_the_function_it_wraps() -> None:
    def twice(function: Callable[[], int]) -> Callable[[], int]:
        @wraps(function)
        def call() -> int:
            return 2 * function()

        return call

    @register_experiment("wrapped")
    @twice
    def work() -> int:
        return 1

    line = work.__wrapped__.__code__.co_firstlineno  # type: ignore[attr-defined]
    assert registered("experiments")["wrapped"].origin == f"{__file__}:{line}"


@pytest.mark.parametrize("decorator", [register_experiment, register_instrument, register_reporter])
@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_an_empty_name_is_refused(decorator: Callable[[Any], Any], name: Any) -> None:
    with pytest.raises(PluginError, match="cannot name one of the") as caught:
        decorator(name)
    assert f'@{decorator.__name__}("name")' in str(caught.value.remedy)


@pytest.mark.parametrize("decorator", [register_experiment, register_instrument, register_reporter])
def test_a_decorator_without_its_name_is_refused_at_once(decorator: Callable[[Any], Any]) -> None:
    class Work(Experiment):
        pass

    with pytest.raises(PluginError, match="cannot name one of the"):
        decorator(Work)


@pytest.mark.parametrize("body", ["class Work:\n    pass", "def work():\n    pass"])
def test_code_without_a_file_can_be_registered(body: str) -> None:
    name = body.split()[1].split(":")[0].split("(")[0]
    code = (
        f"{body}\n"
        "from agentdyno.registry import register_experiment, registered\n"
        f"register_experiment('x')({name})\n"
        f"register_experiment('x')({name})\n"
        "print(registered('experiments')['x'].origin)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "__main__" in done.stdout or "<string>" in done.stdout
