"""A millisecond of ordinary Python: calls, a dict, a list, arithmetic."""

from __future__ import annotations


def busy(rounds: int = 30) -> dict[str, int]:
    """Does the same work every time; used to see how much a machine changes when nothing does."""
    total = 0
    for start in range(rounds):
        words = {f"w{i}": i for i in range(start, start + 100)}
        total += sum(value for value in words.values() if value % 3)
    return {"total": total}
