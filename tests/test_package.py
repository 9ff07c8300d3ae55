"""What ``pip install agentdyno`` gives: built, installed into an environment of its own, and tried there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentdyno.extras import EXTRAS

from .compiled import can_compile

HERE = Path(__file__).parents[1]
MOST_PACKAGES, MOST_MB = 30, 340
TOOLS = {"pip", "setuptools"}


@dataclass(frozen=True)
class Installed:
    """An environment outside of the checkout with the wheel in it, and what was built."""

    python: Path
    folder: Path
    built: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DYNO_", "PYTHON"))}
        environ = {**kept, "PATH": f"{self.python.parent}:{os.environ['PATH']}", "COLUMNS": "80"}
        return subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True, timeout=240)

    def answer(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def install(python: Path, wheel: Path) -> None:
    uv = Path(sys.executable).parent / "uv"
    pip = ["-m", "pip", "--python", str(python), "install"]
    command = [str(uv), "pip", "install", "--python", str(python)] if uv.exists() else [sys.executable, *pip]
    subprocess.run([*command, "--quiet", "-c", str(HERE / "constraints.txt"), str(wheel)], check=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("package")
    built = folder / "built"
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(built), str(HERE)]
    subprocess.run(build, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    python = folder / "env" / "bin" / "python"
    install(python, next(built.glob("*.whl")))
    (folder / "work").mkdir()
    return Installed(python, folder / "work", built)


def readme_files() -> dict[str, str]:
    """The files that the README asks to be saved."""
    text = (HERE / "README.md").read_text()
    return dict(re.findall(r"Save this as `([\w.]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL))


def test_the_core_is_lean(installed: Installed) -> None:
    listed = (
        "import importlib.metadata as m, os\n"
        "for d in m.distributions():\n"
        "    files = [d.locate_file(f) for f in d.files or ()]\n"
        "    print(d.metadata['Name'], sum(os.path.getsize(f) for f in files if os.path.exists(f)))"
    )
    sizes = dict(line.split() for line in installed.answer(str(installed.python), "-c", listed).splitlines())
    packages = {name: int(size) for name, size in sizes.items() if name not in TOOLS}
    assert "agentdyno" in packages
    assert len(packages) <= MOST_PACKAGES, sorted(packages)
    assert sum(packages.values()) / 2**20 <= MOST_MB
    needed = {module for modules in EXTRAS.values() for module in modules}
    assert not needed & {name.replace("-", "_") for name in packages}


def test_the_first_example_of_the_readme_runs(installed: Installed) -> None:
    for name, text in readme_files().items():
        (installed.folder / name).write_text(text)
    command = ["dyno", "run", "capitals.yaml", "--agent", "guide.py@terse", "--agent", "guide.py@chatty"]
    shown = installed.answer(*command, "--epochs", "3")
    assert "terse" in shown
    assert "peru" in shown
    assert "inconclusive" in installed.answer("dyno", "compare", "terse", "chatty")


def test_the_demo_runs_and_writes_a_page_that_says_what_pictures_need(installed: Installed) -> None:
    installed.answer("dyno", "demo", "--model", "none")
    (page,) = installed.folder.rglob("*.html")
    assert "pip install &#39;agentdyno[plots]&#39;" in page.read_text()
    assert "<svg" not in page.read_text()


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("dyno", "serve"), "service"),
        (("dyno", "report", "last", "--format", "png"), "plots"),
        (("dyno", "list", "runs", "--store", "postgresql://nobody@127.0.0.1:1/x"), "postgres"),
        (("dyno", "run", "capitals.yaml", "--agent", "smollm2"), "local"),
        (("dyno", "run", "capitals.yaml", "--agent", "guide.py@terse", "--executor", "ray"), "ray"),
        (("dyno", "run", "capitals.yaml", "--agent", "openai:gpt-5-mini"), "prices"),
        (("dyno", "run", "capitals.yaml", "--agent", "openai:gpt-5-mini", "--max-cost", "1"), "prices"),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_brings_it(
    installed: Installed, command: tuple[str, ...], extra: str
) -> None:
    done = installed.run(*command)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"pip install 'agentdyno[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    assert set(EXTRAS) <= set(project["optional-dependencies"])


def test_the_archives_hold_the_package_and_no_more(installed: Installed) -> None:
    with zipfile.ZipFile(next(installed.built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert {name.split("/")[0] for name in names} == {"agentdyno", "agentdyno-0.1.0.dist-info"}
    assert "agentdyno/web/static/index.html" in names
    assert "agentdyno/py.typed" in names
    with tarfile.open(next(installed.built.glob("*.tar.gz"))) as source:
        folders = {name.split("/")[1] for name in source.getnames()}
    named = {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore", "hatch_build.py"}
    assert folders == {"src", *named}


DECODER = "from agentdyno.load.client.stream_reader import decoder_name; print(decoder_name())"


def test_the_wheel_holds_the_compiled_reader_and_no_other_build_of_it(installed: Installed) -> None:
    wheel = next(installed.built.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        compiled = [name for name in archive.namelist() if name.endswith(".so")]
    if not can_compile():
        assert not compiled
        return
    (name,) = compiled
    assert name.startswith("agentdyno/load/client/_stream_reader.")
    assert not wheel.name.endswith("py3-none-any.whl")
    assert installed.answer(str(installed.python), "-c", DECODER).strip() == "compiled"
    with tarfile.open(next(installed.built.glob("*.tar.gz"))) as source:
        assert not [name for name in source.getnames() if name.endswith(".so")]


def test_without_a_compiler_the_wheel_is_one_for_all_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    environ = {name: value for name, value in os.environ.items() if name != "CC"} | {"PATH": str(tmp_path / "bin")}
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(HERE)]
    done = subprocess.run(build, env=environ, capture_output=True, text=True, check=True)
    assert "without its compiled reader" in done.stdout + done.stderr
    assert "there is no C compiler" in done.stdout + done.stderr
    wheel = next(tmp_path.glob("*.whl"))
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".so")]
        archive.extractall(tmp_path / "unpacked")
    command = [sys.executable, "-c", DECODER]
    kept = {**os.environ, "PYTHONPATH": str(tmp_path / "unpacked")}
    told = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "python"
