"""Local code is named by file or module, and says where it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentdyno.errors import PluginError, SpecError
from agentdyno.registry.local import Target, load_file, load_import, load_target, parse_reference

pytestmark = pytest.mark.usefixtures("empty_registry")

BENCH = """
from agentdyno import register_experiment
from helper_of_bench import ROWS

@register_experiment("my_sort")
def sort(size: int = ROWS) -> int:
    return size

class Outer:
    class Inner:
        pass
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    (tmp_path / "helper_of_bench.py").write_text("ROWS = 7\n")
    file = tmp_path / "bench.py"
    file.write_text(BENCH)
    return file


def test_a_file_reference_is_relative_to_its_base(bench: Path) -> None:
    assert parse_reference("bench.py@my_sort", bench.parent) == Target("my_sort", files=(str(bench),))
    assert parse_reference(f"{bench}@sort", Path("/")) == Target("sort", files=(str(bench),))
    below = bench.parent / "below"
    below.mkdir()
    assert parse_reference("../bench.py@sort", below) == Target("sort", files=(str(bench),))


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("pkg.mod:attr", Target("attr", module="pkg.mod")),
        ("mod:Outer.Inner", Target("Outer.Inner", module="mod")),
        ("plain", None),
        ("My Custom Benchmark", None),
        ("not a module:x", None),
        ("mod:", None),
        (":x", None),
        ("a@b", None),
        ("", None),
    ],
)
def test_references_to_modules_are_told_from_plain_names(reference: str, expected: Target | None) -> None:
    assert parse_reference(reference, Path()) == expected


def test_a_missing_file_is_answered_with_the_nearest_one(bench: Path) -> None:
    with pytest.raises(PluginError) as caught:
        parse_reference("bensh.py@sort", bench.parent)
    assert caught.value.message == "no file bensh.py"
    assert caught.value.where == "bensh.py@sort"
    assert str(caught.value.remedy).startswith("Did you mean bench.py")
    with pytest.raises(PluginError, match=r"no file nowhere/x\.py"):
        parse_reference("nowhere/x.py@sort", bench.parent)


@pytest.mark.parametrize("name", ["my_sort", "sort"])
def test_an_object_is_found_by_its_registered_name_and_by_its_attribute(bench: Path, name: str) -> None:
    assert load_target("experiments", Target(name, files=(str(bench),)))() == 7


def test_an_unknown_name_in_a_file_is_answered_with_the_nearest_ones(bench: Path) -> None:
    with pytest.raises(PluginError) as caught:
        load_target("experiments", Target("my_sortt", files=(str(bench),)), also_known=["my_sorter"])
    assert caught.value.message == "no experiment called 'my_sortt'"
    assert caught.value.where == "bench.py"
    assert caught.value.remedy == "Did you mean my_sort or my_sorter or sort?"


def test_an_unknown_attribute_of_a_module_is_answered_with_the_nearest_ones() -> None:
    assert load_target("experiments", Target("path.join", module="os")) is not None
    with pytest.raises(PluginError, match="os has no getcwdd") as caught:
        load_target("experiments", Target("getcwdd", module="os"))
    assert "Did you mean getcwd" in str(caught.value.remedy)


def test_a_file_is_executed_once_and_its_folder_becomes_importable(bench: Path) -> None:
    assert load_file(bench) is load_file(bench) is load_import(str(bench))
    assert str(bench.parent) in sys.path
    assert load_import("helper_of_bench").ROWS == 7


def test_files_of_the_same_name_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "same.py").write_text(f"NUMBER = {number}\n")
    assert [load_file(tmp_path / str(number) / "same.py").NUMBER for number in (1, 2)] == [1, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nraise ValueError('no data')\n", "cannot be loaded: ValueError: no data (line 2)"),
        ("def f():\n    return 1 / 0\n\n\nf()\n", "cannot be loaded: ZeroDivisionError: division by zero (line 2)"),
        ("x = (\n", "cannot be loaded: SyntaxError: '(' was never closed (broken.py, line 1)"),
        ("import sys\nsys.exit(3)\n", "cannot be loaded: SystemExit: 3 (line 2)"),
        (
            "\n\nimport json\njson.loads('')\n",
            "cannot be loaded: JSONDecodeError: Expecting value: line 1 column 1 (char 0) (line 4)",
        ),
    ],
)
def test_a_file_that_fails_to_load_names_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(text)
    for _ in range(2):  # a failed load leaves nothing half loaded behind
        with pytest.raises(PluginError) as caught:
            load_file(file)
        assert caught.value.message == said
        assert caught.value.where == str(file)
        assert "whole traceback" in str(caught.value.remedy)


def test_a_missing_dependency_is_named_with_the_remedy_to_install_it(tmp_path: Path) -> None:
    file = tmp_path / "needs.py"
    file.write_text("import pandas_of_nobody.sub\n")
    with pytest.raises(PluginError, match=r"No module named 'pandas_of_nobody' \(line 1\)") as caught:
        load_file(file)
    assert "Install pandas_of_nobody" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nraise ValueError('no data')\n", "cannot be loaded: ValueError: no data ({file}:2)"),
        ("import sys\n\nsys.exit('bye')\n", "cannot be loaded: SystemExit: bye ({file}:3)"),
        ("def f(:\n", "cannot be loaded: SyntaxError: invalid syntax (broken_module_of_test.py, line 1)"),
    ],
)
def test_a_module_that_fails_to_load_names_its_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    file = tmp_path / "broken_module_of_test.py"
    file.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PluginError) as caught:
        load_target("experiments", Target("x", module="broken_module_of_test"))
    assert caught.value.message == said.format(file=file)
    assert caught.value.where == "broken_module_of_test"


def test_errors_of_ours_pass_through_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "refuses.py"
    file.write_text("from agentdyno import SpecError\nraise SpecError('no', remedy='Yes.')\n")
    with pytest.raises(SpecError) as caught:
        load_file(file)
    assert caught.value.__cause__ is None


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="no such file") as caught:
        load_file(tmp_path / "gone.py")
    assert caught.value.where == str(tmp_path / "gone.py")
