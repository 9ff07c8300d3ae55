"""A scorer that gives no value, because it raised: what is said of it, and the line of the user's code."""

from __future__ import annotations

import site
import sysconfig
import traceback
from functools import cache
from pathlib import Path
from types import FrameType

from agentdyno.contracts import CaseFailed, Unscorable
from agentdyno.model.case import Score
from agentdyno.model.sample import RAISED, UNSCORABLE
from agentdyno.scorers.answer import shortened

MOST_OF_MESSAGE = 240
"""Characters of an exception's message that are kept."""
_PACKAGE = Path(__file__).parents[1]
_INSTALLED = ("site-packages", "dist-packages")


def raised_score(error: BaseException, name: str, own_file: str, base_dir: Path) -> Score:
    """What an answer gets from a scorer that raised: 0, with the reason.

    No verdict instead, where the scorer says so (``Unscorable``) or where an agent that it asked has no answer
    (``CaseFailed``): that is not the fault of the answer. ``own_file`` is where the scorer is defined; files below
    ``base_dir`` are named from there.
    """
    said = shortened(_text_of(error), MOST_OF_MESSAGE)
    if isinstance(error, Unscorable):
        return _no_verdict(f"scorer {name} gave no verdict" + (f": {said}" if said else ""), UNSCORABLE)
    if isinstance(error, CaseFailed):
        return _no_verdict(f"scorer {name} gave no verdict: its judge did not answer: {said}", "judge_failed")
    kind = type(error).__name__
    place = place_of(error, own_file, base_dir)
    reason = f"scorer {name} raised {kind}" + (f": {said}" if said else "") + (f" ({place})" if place else "")
    problem = {"code": RAISED, "message": reason, "error": kind, "where": place}
    return Score({"correctness": 0.0}, reason, {"problem": problem})


def _no_verdict(reason: str, code: str) -> Score:
    return Score({"correctness": None}, reason, {"problem": {"code": code, "message": reason}})


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  (its own text may be what is broken)
        return ""


def place_of(error: BaseException, own_file: str, base_dir: Path) -> str:
    """``file.py:12``, the innermost line of the user's own code; "" where the error has none.

    Code of the standard library, of installed packages and of agentdyno is not the user's. Where the scorer itself is
    defined there, the innermost line of its own file counts.
    """
    frames = [(frame.f_code.co_filename, line) for frame, line in _frames(error)]
    users = [item for item in frames if not _is_library(item[0])]
    own = [item for item in frames if own_file and item[0] == own_file]
    if not (found := users or own):
        return ""
    file, line = found[-1]
    path = Path(file)
    shown = path.relative_to(base_dir) if path.is_relative_to(base_dir) else path.name
    return f"{shown}:{line}"


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    return list(traceback.walk_tb(error.__traceback__))


@cache
def _is_library(file: str) -> bool:
    """Whether the code of this file came with Python or a package; so did what has no file, such as ``<string>``."""
    path = Path(file)
    if file.startswith("<") or any(part in _INSTALLED for part in path.parts):
        return True
    return any(path.is_relative_to(root) for root in _roots())


@cache
def _roots() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    named = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return (_PACKAGE, *(Path(name) for name in (*named, *site.getsitepackages(), site.getusersitepackages())))
