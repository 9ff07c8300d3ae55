"""Code runs as its file says, whatever Python compiled of it before."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from agentdyno.registry.caches import believe_only_later_caches
from agentdyno.registry.local import load_file

SECOND = 1_700_000_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules can be imported; what is imported from it is forgotten, and so is how."""
    known = {*sys.modules}
    monkeypatch.setattr(sys, "path_hooks", [*sys.path_hooks])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in {*sys.modules} - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def write(file: Path, text: str) -> None:
    """A text of a given second, as every file of an archive or a checkout may be of one."""
    file.write_text(text)
    os.utime(file, (SECOND, SECOND))


def compiled_of(file: Path, text: str) -> Path:
    """What Python compiled of an earlier text of this second, long after that was written."""
    write(file, text)
    compiled = Path(py_compile.compile(str(file)) or "")
    os.utime(compiled, (SECOND + 60, SECOND + 60))
    return compiled


def test_a_file_that_changed_within_the_second_it_was_compiled_in_runs_as_it_is_written(folder: Path) -> None:
    file = folder / "quick.py"
    compiled_of(file, "ANSWER = 1\n")
    write(file, "ANSWER = 2\n")
    assert load_file(file).ANSWER == 2


def test_python_itself_would_run_a_module_as_it_was(folder: Path) -> None:
    compiled_of(folder / "stale.py", "ANSWER = 1\n")
    write(folder / "stale.py", "ANSWER = 2\n")
    code = "import stale; print(stale.ANSWER)"
    said = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert said.stdout == "1\n"


@pytest.mark.parametrize("module", ["beside", "package.inside"])
def test_a_module_beside_a_file_runs_as_it_is_written(folder: Path, module: str) -> None:
    beside = folder / f"{module.replace('.', '/')}.py"
    beside.parent.mkdir(exist_ok=True)
    compiled_of(beside, "ANSWER = 1\n")
    write(beside, "ANSWER = 2\n")
    (folder / "agent.py").write_text(f"from {module} import ANSWER\n")
    assert load_file(folder / "agent.py").ANSWER == 2


def test_a_module_in_whose_place_another_of_the_same_second_was_moved_runs_as_it_is_written(folder: Path) -> None:
    compiled_of(folder / "swapped.py", "ANSWER = 1\n")
    write(folder / "other.py", "ANSWER = 2\n")
    (folder / "other.py").replace(folder / "swapped.py")
    believe_only_later_caches()
    assert import_module("swapped").ANSWER == 2


def test_a_link_that_leads_to_another_text_of_the_same_second_runs_as_it_is_written(folder: Path) -> None:
    write(folder / "second.py", "ANSWER = 2\n")
    compiled_of(folder / "linked.py", "ANSWER = 1\n")
    (folder / "linked.py").unlink()
    (folder / "linked.py").symlink_to("second.py")
    believe_only_later_caches()
    assert import_module("linked").ANSWER == 2


def test_what_was_compiled_well_after_the_last_change_is_believed(folder: Path) -> None:
    compiled = compiled_of(folder / "old.py", "ANSWER = 1\n")
    write(folder / "old.py", "ANSWER = 2\n")
    later = (folder / "old.py").stat().st_ctime + 10
    os.utime(compiled, (later, later))
    believe_only_later_caches()
    assert import_module("old").ANSWER == 1, "compiled anew, though this could not be of another text"


def test_what_is_compiled_anew_is_kept(folder: Path) -> None:
    compiled = compiled_of(folder / "kept.py", "ANSWER = 1\n")
    write(folder / "kept.py", "ANSWER = 2\n")
    believe_only_later_caches()
    import_module("kept")
    assert compiled.stat().st_mtime > SECOND + 60


def test_installed_modules_are_left_to_python(folder: Path) -> None:
    installed = folder / "site-packages"
    installed.mkdir()
    compiled_of(installed / "library.py", "ANSWER = 1\n")
    write(installed / "library.py", "ANSWER = 2\n")
    sys.path.insert(0, str(installed))
    try:
        believe_only_later_caches()
        assert import_module("library").ANSWER == 1
    finally:
        sys.path.remove(str(installed))
