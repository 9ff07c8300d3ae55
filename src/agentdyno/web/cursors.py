"""Where the next page of a list begins, as text that means nothing to the client."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from agentdyno.errors import SpecError

Part = int | str
_LONGEST = 1024
_LARGEST = 2**63 - 1


def encode_cursor(parts: Sequence[Part]) -> str:
    """Base64url of what identifies the last item that was given."""
    text = json.dumps(list(parts), separators=(",", ":"), ensure_ascii=True)
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, *kinds: type) -> tuple[Part, ...] | None:
    """What ``encode_cursor`` was given, checked to be of these ``kinds`` (``int`` or ``str``), in order.

    ``None`` without a cursor. Raises ``SpecError`` at a text that is no cursor of this list.
    """
    if not cursor:
        return None
    wrong = SpecError("this is no cursor of this list", where="cursor", remedy="Give back `next` as it came.")
    if len(cursor) > _LONGEST or not cursor.isascii():
        raise wrong
    try:
        parts = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise wrong from None
    if not isinstance(parts, list) or [type(part) for part in parts] != list(kinds):
        raise wrong
    if any(isinstance(part, int) and abs(part) > _LARGEST for part in parts):
        raise wrong
    return tuple(parts)
