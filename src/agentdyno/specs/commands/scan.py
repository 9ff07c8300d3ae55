"""Parameters of commands: ranges, lists, and ``{name}`` in a text replaced by each value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import product

from agentdyno.errors import SpecError, nearest

MOST_VALUES = 100_000
_PLACE = re.compile(r"\{(\w+)\}")


def scanned(name: str, lowest: str, highest: str, step: str | None = None) -> list[int | float]:
    """Every value from ``lowest`` to ``highest``, both included; steps of 1 unless given. Raises ``SpecError``."""
    where = f"--parameter-scan {name}"
    low, high, by = (_number(text, where) for text in (lowest, highest, step or "1"))
    if by <= 0:
        raise SpecError(f"expected a step above 0, got {step}", where=where, remedy="Write for example -D 2.")
    if high < low:
        raise SpecError(f"the range from {lowest} to {highest} is empty", where=where, remedy="Smaller one first.")
    count = int((high - low) / by) + 1
    if count > MOST_VALUES:
        raise SpecError(
            f"the range has {count:,} values, at most {MOST_VALUES:,} are run",
            where=where,
            remedy="Give a larger -D.",
        )
    values = [low + by * place for place in range(count)]
    whole = all(value == value.to_integral_value() for value in (low, by))
    return [int(value) if whole else float(value) for value in values]


def combinations(parameters: Mapping[str, Sequence[object]]) -> list[dict[str, object]]:
    """Every combination of the values, the last parameter fastest; one without any where there are none."""
    return [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]


def filled(text: str, values: Mapping[str, object]) -> str:
    """``text`` with ``{name}`` replaced by its value; other braces stay as they are, shells use them too."""
    return _PLACE.sub(lambda found: _shown(values[found[1]]) if found[1] in values else found[0], text)


def places(texts: Iterable[str]) -> set[str]:
    """The names that stand in braces."""
    return {name for text in texts for name in _PLACE.findall(text)}


def refuse_unused(parameters: Iterable[str], texts: Sequence[str], where: str) -> None:
    """A parameter that no command names would only repeat them all."""
    used = places(texts)
    for name in parameters:
        if name not in used:
            raise SpecError(
                f"no command has {{{name}}}",
                where=where,
                remedy=nearest(name, used) if used else f"Write {{{name}}} where its values belong.",
            )


def _number(text: str, where: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise SpecError(f"expected a number, got {text!r}", where=where, remedy="As in -P threads 1 8.") from None
    if not value.is_finite():
        raise SpecError(f"expected a number, got {text!r}", where=where, remedy="As in -P threads 1 8.")
    return value


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.12g}" if isinstance(value, float) else str(value)
