"""How much of an expected JSON value another one has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from agentdyno.scorers.answer import as_text, shortened

_MOST_TOLD = 8


@dataclass(slots=True)
class JsonComparison:
    """Leaves of the expected value: how many there are, are present, and are right; ``extra`` ones are not expected.

    ``differences`` names the first few by path.
    """

    leaves: int = 0
    present: int = 0
    right: int = 0
    extra: int = 0
    differences: list[str] = field(default_factory=list)

    def tell(self, path: str, what: str) -> None:
        if len(self.differences) < _MOST_TOLD:
            self.differences.append(f"{path or 'the value'}: {what}")


@dataclass(frozen=True, slots=True)
class Comparer:
    """``tolerance`` of numbers is relative; ``unordered`` lists are bags; ``ignore_extra`` allows further fields."""

    tolerance: float = 1e-9
    unordered: bool = False
    ignore_extra: bool = False

    def equal(self, expected: object, got: object) -> bool:
        found = self.compare(expected, got)
        return found.right == found.leaves and not found.extra

    def compare(self, expected: object, got: object) -> JsonComparison:
        found = JsonComparison()
        self._compare(expected, got, "", found)
        return found

    def _compare(self, expected: object, got: object, path: str, found: JsonComparison) -> None:
        if isinstance(expected, Mapping) and expected and isinstance(got, Mapping):
            self._fields(expected, got, path, found)
        elif _is_list(expected) and expected and _is_list(got):
            self._items(expected, got, path, found)
        else:
            leaves = _leaves(expected)
            same = self._same_leaf(expected, got)
            found.leaves += leaves
            # Another kind of value in place of fields or items has none of them.
            found.present += leaves if same or not _is_container(expected) else 0
            found.right += leaves if same else 0
            if not same:
                found.tell(path, f"want {_shown(expected)}, got {_shown(got)}")

    def _fields(
        self, expected: Mapping[object, object], got: Mapping[object, object], path: str, found: JsonComparison
    ) -> None:
        for key, value in expected.items():
            below = f"{path}.{key}" if path else str(key)
            if key in got:
                self._compare(value, got[key], below, found)
            else:
                found.leaves += _leaves(value)
                found.tell(below, "missing")
        for key in got:
            if key not in expected and not self.ignore_extra:
                found.extra += 1
                found.tell(f"{path}.{key}" if path else str(key), "not expected")

    def _items(self, expected: Sequence[object], got: Sequence[object], path: str, found: JsonComparison) -> None:
        wanted, have = self._aligned(expected, got) if self.unordered else (expected, got)
        for index, value in enumerate(wanted):
            if index < len(have):
                self._compare(value, have[index], f"{path}[{index}]", found)
            else:
                found.leaves += _leaves(value)
                found.tell(f"{path}[{index}]", f"{_shown(value)} is missing")
        if len(got) > len(expected):
            found.extra += len(got) - len(expected)
            found.tell(path, f"want {len(expected)} items, got {len(got)}")

    def _aligned(self, expected: Sequence[object], got: Sequence[object]) -> tuple[list[object], list[object]]:
        """Both lists with what is equal in both first, at the same places; the rest in its order."""
        first: list[object] = []
        alone: list[object] = []
        equal: list[object] = []
        rest = list(got)
        for want in expected:
            place = next((index for index, have in enumerate(rest) if self.equal(want, have)), None)
            if place is None:
                alone.append(want)
            else:
                first.append(want)
                equal.append(rest.pop(place))
        return first + alone, equal + rest

    def _same_leaf(self, expected: object, got: object) -> bool:
        if isinstance(expected, bool) or isinstance(got, bool):
            return expected is got
        if isinstance(expected, (int, float)) and isinstance(got, (int, float)):
            return expected == got or _close(expected, got, self.tolerance)
        if isinstance(expected, Mapping) and isinstance(got, Mapping):
            return not expected and (not got or self.ignore_extra)
        if _is_list(expected) and _is_list(got):
            return not expected and not got
        return type(expected) is type(got) and expected == got


def _close(first: float, second: float, tolerance: float) -> bool:
    try:
        return math.isclose(first, second, rel_tol=tolerance)
    except OverflowError:
        return False  # an integer beyond every float


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, (list, tuple))


def _is_container(value: object) -> bool:
    return bool(value) and (isinstance(value, Mapping) or _is_list(value))


def _leaves(value: object) -> int:
    """Scalars and empty containers in a value."""
    if isinstance(value, Mapping) and value:
        return sum(map(_leaves, value.values()))
    return sum(map(_leaves, value)) if _is_list(value) and value else 1


def _shown(value: object) -> str:
    return shortened(as_text(value), 60) if not isinstance(value, str) else repr(shortened(value, 60))
