"""The look of the charts: colours, axes, boxes and strips of points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, GRID, PAPER = "#24292f", "#5b6470", "#dfe2e6", "#ffffff"
ACCENT = "#2b6ca3"
# Told apart with any colour vision, and by marker and dash too.
LINES = ("#2b6ca4", "#c8571b", "#1b8a6b", "#a8528c", "#b88200", "#4a9cc9")
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    ACCENT: "--accent",
    **{color: f"--line-{index}" for index, color in enumerate(LINES)},
}
"""The CSS variable that takes each colour's place in a page, which has a dark form too."""


def style(axes: Axes, grid: str) -> None:
    """No frame, quiet ticks, grid lines along ``x``, ``y``, ``both`` or none of them (``""``)."""
    axes.set_facecolor("none")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.tick_params(which="both", colors=MUTED, length=0, labelsize=8)
    axes.xaxis.label.set_color(MUTED)
    axes.yaxis.label.set_color(MUTED)
    axes.set_axisbelow(True)
    if grid == "both":
        axes.grid(True, color=GRID, linewidth=0.7)
    elif grid:
        axes.grid(True, axis=grid, color=GRID, linewidth=0.7)  # type: ignore[arg-type]


def number_axis(
    axes: Axes,
    which: Literal["x", "y"],
    values: Sequence[float],
    *,
    log: bool,
    exact: bool = False,
    whole: bool = False,
) -> None:
    """Plain numbers on an axis. ``exact`` puts the ticks on the values themselves where they are few; where all are
    one value, that is the only tick."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    if log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        axis.set_minor_formatter(NullFormatter())
    few = exact and 1 < len(values) <= 8
    if (constant := is_constant(values)) or few:
        axis.set_ticks([values[0]] if constant else list(values))
        axis.set_minor_locator(NullLocator())
    elif log:
        decades_only = max(values) / min(values) > 300
        axis.set_major_locator(LogLocator(subs=(1.0,) if decades_only else (1.0, 2.0, 5.0), numticks=7))
    else:
        axis.set_major_locator(MaxNLocator(nbins=5, integer=whole))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}" if abs(value) < 1e9 else f"{value:.3g}"))


def is_constant(values: Sequence[float]) -> bool:
    """Whether there is but one value, but for rounding: ticks around it would suggest a spread."""
    return bool(values) and max(values) - min(values) <= 1e-9 * max(map(abs, values))


def box(axes: Axes, values: Sequence[float], y: float, height: float) -> None:
    """A lying box: quartiles, median, whiskers to the last value within 1.5 interquartile ranges."""
    import numpy
    from matplotlib.patches import Rectangle

    first, middle, third = (float(q) for q in numpy.percentile(values, (25, 50, 75)))
    reach = 1.5 * (third - first)
    low = min(value for value in values if value >= first - reach)
    high = max(value for value in values if value <= third + reach)
    axes.hlines(y, low, high, color=MUTED, linewidth=1.0)
    axes.add_patch(
        Rectangle((first, y - height / 2), third - first, height, facecolor=ACCENT, alpha=0.35, linewidth=0)
    )
    axes.vlines(middle, y - height / 2, y + height / 2, color=ACCENT, linewidth=1.8)


def strip(axes: Axes, values: Sequence[float], y: float, height: float) -> None:
    """Every value as a faint dot, spread over ``height`` so that equal ones stay visible."""
    # Multiples of the golden ratio spread evenly and are the same every time.
    heights = [y + height * ((index * 0.6180339887) % 1.0 - 0.5) for index in range(len(values))]
    axes.plot(values, heights, "o", color=INK, markersize=1.8, alpha=0.4, mew=0)


def legend(axes: Axes) -> None:
    axes.legend(frameon=False, fontsize=8, labelcolor=MUTED, loc="best")


_PROLOG = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>|<style [^>]*>.*?</style>|<!--.*?-->", re.DOTALL)
_NAMESPACES = re.compile(r'\s(?:xmlns(?::\w+)?|version|width|height)="[^"]*"')
_OPENING = re.compile(r"<svg[^>]*>")
_ID = re.compile(r'(\bid="|url\(#|xlink:href="#)')


def png(figure: Figure) -> bytes:
    """Light paper, 144 dots per inch, no date inside: the same chart gives the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=144, facecolor=PAPER, metadata={"Software": None})
    return stream.getvalue()


def inline_svg(figure: Figure, key: str) -> str:
    """An ``<svg>`` element for a page; ``key`` makes its ids unique there."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)
    stream = StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = _METADATA.sub("", _PROLOG.sub("", stream.getvalue(), count=1))
    text = _OPENING.sub(lambda found: _NAMESPACES.sub("", found.group()), text, count=1)
    text = _ID.sub(rf"\g<1>{key}-", text).replace("xlink:href", "href")
    for color, variable in VARIABLES.items():
        text = text.replace(f": {color}", f": var({variable})")
    return re.sub(r"\n\s*", "\n", text).strip()
