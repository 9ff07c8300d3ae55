"""The structure and the words of an HTML page, without what only draws."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "img", "input", "hr", "col", "path", "line", "rect", "circle", "use"}
_SHOWN = ("id", "class", "href", "role", "aria-label", "colspan", "scope", "data-label")
_OPAQUE = {"style", "script"}


class _Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.depth = 0
        self.drawing = 0
        self.opaque = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opaque = tag in _OPAQUE
        if tag == "svg" or self.drawing:
            self.drawing += tag not in _VOID
            if tag != "svg":
                return
        said = "".join(f' {name}="{value}"' for name, value in attrs if name in _SHOWN and value)
        self.lines.append(f"{' ' * self.depth}<{tag}{said}>")
        self.depth += tag not in _VOID

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self.drawing:
            self.lines.append(f"{' ' * self.depth}<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self.opaque = False
        if tag in _VOID:
            return
        if self.drawing:
            self.drawing -= 1
            if self.drawing:
                return
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if text and not self.opaque:
            self.lines.append(f"{' ' * self.depth}{text}")


def outline(page: str) -> str:
    """One line per element, with what names it, and per text; of a drawing only its texts."""
    parser = _Outline()
    parser.feed(page)
    parser.close()
    return "\n".join(parser.lines)
