"""Whether compiled code can be made here."""

from __future__ import annotations

from hatch_build import NotCompiled, compiler


def can_compile() -> bool:
    """Whether there are a compiler and the headers of this Python."""
    try:
        return bool(compiler())
    except NotCompiled:
        return False
