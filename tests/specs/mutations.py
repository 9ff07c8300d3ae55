"""Documents with something wrong in them, for tests of what becomes of whatever stands in a file."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from hypothesis import strategies as st

from agentdyno.errors import SpecError

ANY_BYTES = st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: text.encode()))
ODD: list[object] = [
    None, True, False, 0, -1, 1.5, 10**30, float("nan"), float("inf"), "", " ", "auto", "off", "1",
    "é\u202e\u0000\U0001f600", "\ud800", "a: b", [], {}, [[]], [None], {"": None}, {"name": {}}, [1, 1],
    "x" * 5000, "a.py@", ":", -(2**63), 10**7,
]  # fmt: skip


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += _places(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            found += _places(item, (*path, i))
    return found


def _odd(rng: random.Random) -> object:
    """A copy: a later mutation may change it, and must not put it into itself."""
    return copy.deepcopy(rng.choice(ODD))


def _mutate(document: object, rng: random.Random) -> None:
    """Drops, renames, replaces or nests something at a random place."""
    places = _places(document)
    if not places:
        return
    *parents, last = rng.choice(places)
    holder: object = document
    for part in parents:
        holder = holder[part]  # type: ignore[index]
    action = rng.choice(["drop", "rename", "replace", "swap", "nest", "add"])
    if isinstance(holder, dict):
        value = holder[last]
        if action in ("drop", "rename"):
            del holder[last]
        if action == "rename":
            holder[str(last)[:-1] + rng.choice(["", "x", "é", "."])] = value
        if action == "add":
            holder[rng.choice(["warmup", "zzz", "experiment", "experiments", "quick", "sweep"])] = _odd(rng)
    elif isinstance(holder, list) and isinstance(last, int):
        value = holder[last]
        if action in ("drop", "rename"):
            del holder[last]
        if action == "add":
            holder.append(_odd(rng))
    if action in ("replace", "swap", "nest"):
        other = {"replace": _odd(rng), "swap": str(value), "nest": value}[action]
        if action == "nest":
            for _ in range(rng.choice([1, 2, 40])):
                other = [other] if rng.random() < 0.5 else {"k": other}
        holder[last] = other  # type: ignore[index]


def mutated(which: object, times: int, rng: random.Random) -> tuple[str, bytes]:
    """The document with so many mutations as the text of a file, at times with damage to its lines or bytes, and how
    the file's name ends."""
    document = json.loads(json.dumps(which))
    for _ in range(times):
        _mutate(document, rng)
    if rng.random() < 0.3:
        ending, data = ".json", json.dumps(document, indent=rng.choice([None, 1])).encode()
    else:
        ending, data = ".yaml", yaml.safe_dump(document, allow_unicode=False).encode()
    damage = rng.random()
    lines = data.split(b"\n")
    if damage < 0.15:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
        data = b"\n".join(lines)
    elif damage < 0.3 and data:
        at = rng.randrange(len(data))
        data = data[:at] + rng.randbytes(rng.randrange(1, 5)) + data[at + rng.randrange(3) :]
    elif damage < 0.35:
        data = data[: rng.randrange(len(data) + 1)]
    return ending, data


@contextmanager
def refused_readably(place: Path) -> Iterator[None]:
    """Whatever is refused in the block says what, where (in ``place``, or below it) and what to do."""
    refusal = None
    try:
        yield
    except SpecError as error:
        refusal = error
    if refusal is not None:
        assert refusal.message
        assert refusal.remedy
        assert refusal.where is not None
        assert refusal.where.startswith(str(place))
        assert str(refusal).encode()
