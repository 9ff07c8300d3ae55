"""A chart as PNG bytes, or as SVG that takes its colours and fonts from the page it stands in."""

from __future__ import annotations

import re
from io import BytesIO, StringIO
from typing import TYPE_CHECKING

from agentdyno.show.axes import PAPER, VARIABLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
