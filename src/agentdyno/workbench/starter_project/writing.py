"""The files that ``dyno init`` writes: a workspace, a small agent and a first suite for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.workbench.starter_project.files import AGENT, OFFERS, SUITE, WORKSPACE, Offer

WORKSPACE_FILE = "dyno.yaml"
AGENT_FILE = "agent.py"
SUITE_FILE = "suites/first.yaml"


@dataclass(frozen=True, slots=True)
class Starter:
    """``written`` files are new, ``kept`` ones were there and stay as they are; ``notes`` are for the user."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    notes: tuple[str, ...]


def write_starter(folder: Path, environ: Mapping[str, str], *, force: bool = False) -> Starter:
    """Writes what is missing of the starter's files into ``folder``; with ``force`` replaces what is there.

    Agents are offered for the providers whose API keys stand in ``environ``; of the keys only their names are read.
    Raises ``RunError`` where the folder cannot be written.
    """
    noticed = [offer for offer in OFFERS if environ.get(offer.variable, "").strip()]
    texts = {
        WORKSPACE_FILE: WORKSPACE.replace("{offers}", "".join(map(_entry, noticed))),
        AGENT_FILE: AGENT,
        SUITE_FILE: SUITE,
    }
    written: list[Path] = []
    kept: list[Path] = []
    for name, text in texts.items():
        path = folder / name
        (written if _write(path, text, force) else kept).append(path)
    return Starter(tuple(written), tuple(kept), tuple(_notes(folder, kept, noticed)))


def _write(path: Path, text: str, force: bool) -> bool:
    """Whether the file was written; one that exists is opened only when it may be replaced."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        if path.parent.is_dir():
            return False
        raise RunError(
            "is a file, not a folder", where=str(path.parent), remedy="Choose another folder, or rename the file."
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(
            f"cannot be written: {reason}", where=str(path), remedy="Choose another folder, or check its permissions."
        ) from None
    return True


def _entry(offer: Offer) -> str:
    lines = [f"{offer.name}:", f"  use: {offer.uses}"]
    if offer.base_url:
        lines += ["  config:", f"    base_url: {offer.base_url}", f"    api_key_env: {offer.variable}"]
    lines.append(f"  env: [{offer.variable}]")
    mark = "" if offer.active else "# "
    return "\n" + "".join(f"  {mark}{line}\n" for line in lines)


def _notes(folder: Path, kept: list[Path], noticed: list[Offer]) -> list[str]:
    notes = [f"{path.relative_to(folder)} exists and was left as it is" for path in kept]
    for offer in noticed:
        state = "is ready" if offer.active else "is there as a comment"
        if folder / WORKSPACE_FILE not in kept:
            notes.append(
                f"{offer.variable} is set: the agent {offer.name} ({offer.uses}) {state} in {WORKSPACE_FILE}"
            )
    above = next((item for item in folder.absolute().parents if (item / WORKSPACE_FILE).is_file()), None)
    if above is not None:
        notes.append(f"{above / WORKSPACE_FILE} no longer counts in this folder: the nearest {WORKSPACE_FILE} does")
    return notes
