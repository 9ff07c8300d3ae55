"""Telling a command from a name: what to type when one stands where the other belongs."""

from __future__ import annotations

import shlex
import shutil

PROGRAM_SCHEMES = ("cmd:", "stdio:")


def command_in(text: str) -> str:
    """The command that a text is, without the scheme in front of it; empty for what is none.

    No name of ours has a blank in it, and what the system can start is a command where no name is known.
    """
    for scheme in PROGRAM_SCHEMES:
        if text.startswith(scheme):
            return text.removeprefix(scheme).strip()
    text = text.strip()
    try:
        words = shlex.split(text)
    except ValueError:
        return text if " " in text else ""
    file = words[-1].rpartition("@")[0] if words else ""
    if not words or "://" in words[0] or file.endswith(".py"):
        return ""
    return text if len(words) > 1 or shutil.which(words[0]) is not None else ""
