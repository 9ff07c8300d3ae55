"""The programs that are compared: which languages, which runtimes, and where they are found."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from agentdyno import PluginError, SpecError

FOLDER_VARIABLE = "DYNO_RUST_AGENTS"
PYTHON, RUST = "python", "rust"
RUNTIMES = {
    PYTHON: ("asyncio", "httpx"),
    RUST: ("tokio-default", "tokio-localset", "async-std", "smol", "smol-1kb"),
}
"""By language, the usual one first."""
_HERE = Path(__file__).parent
_AGENT = _HERE / "python" / "agent.py"
_SOURCES = _HERE / "rust"


@dataclass(frozen=True, slots=True)
class Program:
    """A program that takes ``agents`` cases at once. ``build`` is how it was built, "" for a script."""

    language: str
    runtime: str
    argv: tuple[str, ...]
    build: str = ""

    @property
    def file(self) -> str:
        return Path(self.argv[0] if self.build else self.argv[1]).name


def find_program(language: str, runtime: str, agents: int, folder: str = "") -> Program:
    """The program of a language and a runtime (the usual one where that is empty).

    Programs in Rust are looked for in ``folder``, else below ``$DYNO_RUST_AGENTS``, else in the user's cache.
    Raises ``SpecError`` for a runtime that the language does not have, ``PluginError`` where it is not built.
    """
    chosen = checked_runtime(language, runtime)
    if language == PYTHON:
        return Program(PYTHON, chosen, (sys.executable, str(_AGENT), "--agents", str(agents), "--client", chosen))
    home = Path(folder) if folder else _programs()
    path = home / (f"runtime-{chosen}" if runtime or agents > 2 else ("demo_agent", "demo_multiagent")[agents - 1])
    if not path.is_file():
        target = home if home.name in ("release", "debug") else home / "release"
        raise PluginError(
            f"the agent in Rust on {chosen} is not built: there is no {path}",
            where="params.language",
            remedy=(
                "Rust comes with `apt-get install cargo` or from https://rustup.rs; then `scripts/rust_agents.sh` in "
                f"a checkout, elsewhere `cargo build --release --features async-std-runtime,smol-runtime "
                f"--manifest-path {_SOURCES / 'Cargo.toml'} --target-dir {target.parent}`."
            ),
        )
    return Program(RUST, chosen, (str(path.absolute()), "--agents", str(agents)), path.parent.name)


def checked_runtime(language: str, runtime: str) -> str:
    """The runtime, or the usual one of the language where none is named."""
    known = RUNTIMES[language]
    if runtime and runtime not in known:
        raise SpecError(
            f"{language} has no runtime {runtime!r} here",
            where="params.runtime",
            remedy=f"Known: {', '.join(known)}.",
        )
    return runtime or known[0]


def _programs() -> Path:
    """Where ``scripts/rust_agents.sh`` puts what it has built to be measured."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get(FOLDER_VARIABLE) or cache / "agentdyno" / "rust-agents") / "release"
