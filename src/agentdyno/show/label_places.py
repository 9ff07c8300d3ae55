"""Where the names of points go in a chart, so that they can be read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from agentdyno.show.axes import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FONT = 7.5
_GAP = 6.0
# Right, left, above and below of the point, then the corners, then further away: (x, y, horizontal alignment).
_PLACES = [
    (reach * x, reach * y, align)
    for reach in (1.0, 1.8, 2.8)
    for x, y, align in (
        (1, 0, "left"),
        (-1, 0, "right"),
        (0, 1.4, "center"),
        (0, -1.4, "center"),
        (1, 1, "left"),
        (1, -1, "left"),
        (-1, 1, "right"),
        (-1, -1, "right"),
    )
]

Box = tuple[float, float, float, float]


def label_points(
    axes: Axes, points: Sequence[tuple[float, float, str]], stairs: Sequence[tuple[float, float]] = ()
) -> None:
    """Writes the name of each point (x, y, name) beside it, where it hits no other name, no other point and no step
    of the ``stairs``, a line that goes from corner to corner first sideways, then up or down.

    Where no place is free a name takes the one that covers least. Scales and limits of the axes must be set.
    """
    figure = axes.get_figure(root=True)
    if figure is None or not points:
        return
    figure.draw_without_rendering()  # the layout decides where a point is on paper
    pixel = figure.dpi / 72.0
    frame = axes.get_window_extent()
    spots = [axes.transData.transform((x, y)) / pixel for x, y, _ in points]
    inside: Box = (frame.x0 / pixel, frame.y0 / pixel, frame.x1 / pixel, frame.y1 / pixel)
    taken: list[Box] = [(x - 4, y - 4, x + 4, y + 4) for x, y in spots]
    corners = [axes.transData.transform(corner) / pixel for corner in stairs]
    taken += _steps([(float(x), float(y)) for x, y in corners])
    for (x, y, name), (left, bottom) in zip(points, spots, strict=True):
        width = 0.56 * _FONT * len(name)
        best = min(
            _PLACES, key=lambda place: _cost(_box(left, bottom, width, place), taken, inside, _PLACES.index(place))
        )
        taken.append(_box(left, bottom, width, best))
        axes.annotate(
            name,
            (x, y),
            (best[0] * _GAP, best[1] * _GAP),
            textcoords="offset points",
            ha=best[2],
            va="center",
            fontsize=_FONT,
            color=INK,
            annotation_clip=False,
        )


def _steps(corners: Sequence[tuple[float, float]]) -> list[Box]:
    """Each side of the stairs as a box of four points' thickness."""
    found: list[Box] = []
    for (x, y), (right, top) in pairwise(corners):
        found.append((x, y - 2, right, y + 2))
        found.append((right - 2, min(y, top), right + 2, max(y, top)))
    return found


def _box(x: float, y: float, width: float, place: tuple[float, float, str]) -> Box:
    start = x + place[0] * _GAP - {"left": 0.0, "right": width, "center": width / 2}[place[2]]
    middle = y + place[1] * _GAP
    return start, middle - 0.6 * _FONT, start + width, middle + 0.6 * _FONT


def _cost(box: Box, taken: Sequence[Box], inside: Box, rank: int) -> float:
    """The area that is covered already or lies outside, and of equal ones the nearer place."""
    area = (box[2] - box[0]) * (box[3] - box[1])
    within = _overlap(box, inside)
    return sum(_overlap(box, other) for other in taken) + 4.0 * (area - within) + 0.01 * rank


def _overlap(first: Box, second: Box) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return width * height if width > 0 and height > 0 else 0.0
