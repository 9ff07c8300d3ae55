"""Faults in exact numbers: which of the next requests goes wrong, and how."""

from __future__ import annotations

import random
from collections.abc import Mapping
from enum import StrEnum

from agentdyno.errors import SpecError, nearest


class Fault(StrEnum):
    """What goes wrong with a request on purpose."""

    ERROR = "error"
    RESET = "reset"
    TRUNCATED = "truncated"
    STREAM_ERROR = "stream_error"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    ENDLESS = "endless"
    HTML = "html"
    BIG_CHUNK = "big_chunk"
    NO_FINISH = "no_finish"
    MALFORMED_ARGUMENTS = "malformed_arguments"
    WRONG_ARGUMENTS = "wrong_arguments"


ANSWERED = frozenset({Fault.BIG_CHUNK, Fault.NO_FINISH, Fault.MALFORMED_ARGUMENTS, Fault.WRONG_ARGUMENTS})
"""Faults of what the model says: the exchange itself succeeds, and its outcome is ``ok``."""
OTHER_NAMES = {"http_error": Fault.ERROR}
"""What a client calls it."""
SPREAD = 10
"""Requests for each fault of a plan that does not say over how many it is spread."""


def fault_named(name: str) -> Fault:
    """The fault of this name; raises ``SpecError``."""
    known = {**OTHER_NAMES, **{fault.value: fault for fault in Fault}}
    if name not in known:
        raise SpecError(f"no fault {name!r}", remedy=nearest(name, known))
    return known[name]


def read_faults(value: object) -> dict[str, int]:
    """``http_error:3,reset:1``, or a mapping, as names to numbers; raises ``SpecError``."""
    if isinstance(value, Mapping):
        pairs = [(str(name), count) for name, count in value.items()]
    else:
        parts = filter(None, (part.strip() for part in str(value).split(",")))
        pairs = [(name.strip(), count.strip()) for name, _, count in (part.partition(":") for part in parts)]
    found: dict[str, int] = {}
    for name, count in pairs:
        fault_named(name)
        text = str(count)
        if isinstance(count, bool) or not (text.isascii() and text.isdigit()):
            raise SpecError(f"faults: {name} cannot be {text!r}", remedy="Write for example http_error:3,reset:1.")
        found[name] = found.get(name, 0) + int(text)
    return found


class FaultPlan:
    """Deals ``faults`` (name to number) out to requests in the order in which they come.

    The first ``start`` requests are spared; the faults are spread over the ``span`` requests after them, in places
    and in an order that depend on ``seed`` alone, and none comes later.
    """

    def __init__(self, faults: Mapping[str, int], *, span: int | None = None, start: int = 0, seed: int = 0) -> None:
        dealt = [fault_named(name) for name in sorted(faults) for _ in range(faults[name])]
        over = len(dealt) * SPREAD if span is None else span
        if over < len(dealt):
            raise SpecError(f"{len(dealt)} faults do not fit into {over} requests", remedy="Use a longer fault_span.")
        draw = random.Random(seed)
        draw.shuffle(dealt)
        self._places = dict(zip(draw.sample(range(start, start + over), len(dealt)), dealt, strict=True))
        self._asked = 0

    def next(self) -> Fault | None:
        """What goes wrong with the next request."""
        place, self._asked = self._asked, self._asked + 1
        return self._places.pop(place, None) if self._places else None

    @property
    def left(self) -> int:
        """Faults that are still to come."""
        return len(self._places)
