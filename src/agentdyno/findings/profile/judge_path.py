"""The critical path: at each moment, the one span that the rest waited for, found from the end backwards.

From the end of a span one looks for the child that ended last before it: until then the span waited for that child,
after it the span worked itself. The child is followed in the same way, and then what ended last before the child
began. Children that were still open then did not hold anything up, except while nothing else went on. Every moment
belongs to exactly one span or to the time outside all of them, so overlapping spans are counted once.
"""

from __future__ import annotations

from collections.abc import Sequence

Interval = tuple[float, float]


def critical_path(spans: Sequence[Interval], parents: Sequence[int], wall_s: float) -> list[float]:
    """Seconds of each span on the path; the last number is the time outside all spans. They add up to ``wall_s``.

    ``parents`` are the indices of the spans around, -1 at the top.
    """
    children = _contained(spans, parents)
    found = [0.0] * (len(spans) + 1)
    pending = [(-1, 0.0, wall_s)]
    while pending:
        index, start_s, end_s = pending.pop()
        own, followed = _walk_back(children[index], spans, start_s, end_s)
        pending += followed
        found[index] += sum(high_s - low_s for low_s, high_s in own)
    return found


def _contained(spans: Sequence[Interval], parents: Sequence[int]) -> list[list[int]]:
    """The children of each span, and last those at the top.

    A span that begins before its parent or outlives it was not waited for by the parent alone: it is looked at beside
    it, below the next span around both that contains it in time.
    """
    children: list[list[int]] = [[] for _ in range(len(spans) + 1)]
    for index, (start_s, end_s) in enumerate(spans):
        above = parents[index]
        while above >= 0 and not (spans[above][0] <= start_s and end_s <= spans[above][1]):
            above = parents[above]
        children[above].append(index)
    return children


def _walk_back(
    below: Sequence[int], spans: Sequence[Interval], start_s: float, end_s: float
) -> tuple[list[Interval], list[tuple[int, float, float]]]:
    """From ``end_s`` back to ``start_s``: intervals without a child, and the parts of children to follow."""
    own: list[Interval] = []
    followed: list[tuple[int, float, float]] = []
    left = sorted(below, key=lambda index: (spans[index][1], spans[index][0]))
    late: list[int] = []  # children that end after the cursor, and begin before it
    cursor_s = end_s
    while cursor_s > start_s:
        while left and spans[left[-1]][1] > cursor_s:
            late.append(left.pop())
        late = [index for index in late if spans[index][0] < cursor_s]
        ended_s = max(start_s, spans[left[-1]][1]) if left else start_s
        if ended_s < cursor_s:
            if late:
                last = max(late, key=lambda index: (spans[index][0], index))
                low_s = max(ended_s, spans[last][0])
                followed.append((last, low_s, cursor_s))
            else:
                low_s = ended_s
                own.append((low_s, cursor_s))
            cursor_s = low_s
            continue
        child = left.pop()
        low_s = max(start_s, spans[child][0])
        if low_s < cursor_s:
            followed.append((child, low_s, cursor_s))
            cursor_s = low_s
    return own, followed
