from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentdyno.errors import PluginError, RunError
from agentdyno.runner.bench.describe import ask, describe_experiment, instrument_perturbs
from agentdyno.runner.bench.job import CodeReference, InstrumentJob, Launch
from tests.runner.building import SUBJECTS, children, descriptors, job, run, trial
from tests.runner.conftest import Pool


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter in whose environment nothing is installed."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return str(folder / "bin" / "python")


@pytest.fixture(autouse=True)
def _nothing_left() -> object:
    open_before, children_before = descriptors(), children()
    yield
    assert children() == children_before
    assert descriptors() == open_before


def code(tmp_path: Path, text: str, name: str = "subject") -> CodeReference:
    file = tmp_path / "subject_file.py"
    file.write_text(text)
    return CodeReference(name, files=(str(file),))


def question(subject: CodeReference) -> dict[str, object]:
    plain = {"name": subject.name, "files": list(subject.files)}
    return {"op": "describe", "kind": "experiments", "name": "subject", "code": plain, "also_known": []}


def test_an_experiment_is_described_from_a_process_of_its_own(tmp_path: Path) -> None:
    info = describe_experiment("shown", code(tmp_path, "def subject(log, fail=''): pass\n"), Launch())
    assert (info.name, [(item.name, item.required) for item in info.parameters]) == (
        "shown",
        [("log", True), ("fail", False)],
    )
    assert not any("subject_file" in name for name in sys.modules)


def test_defaults_without_a_json_form_are_shown_and_marked(tmp_path: Path) -> None:
    text = "from pathlib import Path\ndef subject(where=Path('x'), n=3): pass\n"
    info = describe_experiment("subject", code(tmp_path, text), Launch())
    assert [(item.default, item.opaque) for item in info.parameters] == [("x", True), (3, False)]


@pytest.mark.parametrize(("name", "perturbs"), [("quiet", False), ("loud", True)])
def test_an_instrument_says_whether_it_perturbs(name: str, perturbs: bool) -> None:
    assert instrument_perturbs(InstrumentJob(name, CodeReference(name, files=(SUBJECTS,))), Launch()) is perturbs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import os\n\n1 / 0\n", r"ZeroDivisionError: division by zero \(line 3\)"),
        ("import no_such_module\n", r"ModuleNotFoundError: No module named 'no_such_module' \(line 1\)"),
        ("def subject(:\n", "SyntaxError: .*line 1"),
        ("raise SystemExit(4)\n", "SystemExit: 4"),
        ("def subjekt(): pass\n", "no experiment called 'subject'(.|\n)*Did you mean subjekt"),
        ("subject = 3\n", "subject is a int, neither an Experiment class nor a function"),
    ],
    ids=["raises", "import", "syntax", "exit", "name", "kind"],
)
def test_code_that_cannot_be_loaded_is_answered_with_where_and_why(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=message):
        describe_experiment("subject", code(tmp_path, text), Launch())


@pytest.mark.parametrize(
    "text",
    [
        "import threading\nthreading.Event().wait()\n",
        "while True: print('x' * 100_000)\n",
        "import os, threading\nos.close(1)\nos.close(2)\nthreading.Event().wait()\n",
    ],
    ids=["silent", "printing", "closed output"],
)
def test_an_import_that_hangs_is_given_up(text: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="did not answer while loading"):
        ask(Launch(), question(code(tmp_path, text)), patience_s=0.7)


def test_an_import_that_ends_its_process_is_told_with_what_it_printed(tmp_path: Path) -> None:
    text = "import os\nos.write(2, b'a last word')\nos._exit(9)\n"
    with pytest.raises(RunError, match=r"ended with status 9 while loading(.|\n)*a last word"):
        describe_experiment("subject", code(tmp_path, text), Launch())


def test_an_import_that_closes_its_output_or_leaves_a_thread_is_still_described(tmp_path: Path) -> None:
    text = (
        "import os, threading\nos.close(1)\nos.close(2)\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "def subject(n: int = 1): pass\n"
    )
    assert [item.name for item in describe_experiment("subject", code(tmp_path, text), Launch()).parameters] == ["n"]


def test_an_interpreter_that_does_not_exist_is_named() -> None:
    with pytest.raises(RunError, match="cannot start /no/such/python: No such file or directory"):
        ask(Launch(python="/no/such/python"), {})


def test_a_folder_that_does_not_exist_is_not_blamed_on_the_interpreter(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot start a worker in /no/such/folder: No such file or directory$"):
        ask(Launch(cwd="/no/such/folder"), {})


def test_an_interpreter_that_is_too_old_says_so(tmp_path: Path) -> None:
    old = tmp_path / "python2"
    old.write_text("#!/bin/sh\necho agentdyno-python-too-old >&2\nexit 1\n")
    old.chmod(0o755)
    with pytest.raises(RunError, match=r"python2 is older than Python 3.11"):
        ask(Launch(python=str(old)), {"op": "describe"})


def test_something_that_is_no_interpreter_is_told_with_its_output(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="ended with status 1 while loading"):
        ask(Launch(python="/bin/false"), {"op": "describe"})


def test_a_bare_environment_needs_nothing_of_ours_installed(bare_python: str, pool: Pool) -> None:
    launch = Launch(python=bare_python)
    executor = pool(job("Observing", launch=launch), job("facts", "facts", launch=launch))
    info = describe_experiment("answer", CodeReference("answer", files=(SUBJECTS,)), launch)
    assert [item.name for item in info.parameters] == ["value"]
    samples = run(executor, trial(0), trial(0, "facts"))
    assert [item.status for item in samples] == ["ok", "ok"]
    assert executor.facts.observed["arm"]["journal"] == "wal"
    probe = "import sys; print(sys.prefix); import agentdyno"
    done = subprocess.run([bare_python, "-c", probe], capture_output=True, text=True, check=False)
    assert "No module named 'agentdyno'" in done.stderr
