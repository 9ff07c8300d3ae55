from __future__ import annotations

import math
from io import BytesIO

import numpy as np

from agentdyno.findings.board.charts import radar_chart
from agentdyno.findings.figures.dimensions import DIMENSIONS
from agentdyno.findings.run.charts import drawing
from agentdyno.show.axes import inline_svg, png

from ..board_rows import even


def scores(*values: float | None) -> dict[str, float | None]:
    return dict(zip(DIMENSIONS, values, strict=True))


def svg(entries: dict[str, dict[str, float | None]]) -> str:
    with drawing():
        return inline_svg(radar_chart(entries), "radar")


def outlines(entries: dict[str, dict[str, float | None]]) -> list[list[tuple[float, int]]]:
    """The corners of each drawn line of an agent, as distance from the centre and degrees clockwise from the top."""
    with drawing():
        axes = radar_chart(entries).axes[0]
    found = []
    for line in axes.lines:
        if line.get_zorder() != 4:
            continue
        corners = np.asarray(line.get_xydata(), dtype=np.float64).tolist()
        found.append([(round(math.hypot(x, y), 6), round(math.degrees(math.atan2(x, y))) % 360) for x, y in corners])
    return found


def test_an_outline_goes_around_all_dimensions_and_closes() -> None:
    (only,) = outlines({"a": scores(1.0, 0.5, 0.25, 0.75, 0.1)})
    assert only == [(1.0, 0), (0.5, 72), (0.25, 144), (0.75, 216), (0.1, 288), (1.0, 0)]


def test_a_missing_dimension_leaves_a_gap_and_never_counts_as_nothing() -> None:
    (only,) = outlines({"a": scores(0.9, 0.5, None, 0.7, 0.6)})
    assert only == [(0.7, 216), (0.6, 288), (0.9, 0), (0.5, 72)]
    first, second = outlines({"a": scores(0.9, None, 0.5, None, 0.6)})
    assert (first, second) == ([(0.5, 144)], [(0.6, 288), (0.9, 0)])
    assert outlines({"a": {}}) == [[]]


def test_a_score_of_nothing_is_drawn_in_the_centre() -> None:
    (only,) = outlines({"a": scores(0.0, 0.5, 0.5, 0.5, math.nan)})
    assert only[0][0] == 0.0
    assert len(only) == 4


def test_the_legend_names_agents_and_what_is_not_known_of_them() -> None:
    text = svg({"first@1": scores(0.9, 0.5, 0.5, 0.7, 0.6), "second@2": scores(0.5, None, 0.5, None, 0.6), "x": {}})
    assert "first@1" in text
    assert "speed, cost not known" in text
    assert "5 dimensions not known" in text
    assert all(name in text for name in DIMENSIONS)


def test_no_more_than_six_agents_are_drawn() -> None:
    many = {f"agent-{number}": scores(*even(0.1 * number)) for number in range(9)}
    assert len(outlines(many)) == 6
    text = svg(many)
    assert "the first 6 of 9 agents" in text
    assert "agent-5" in text
    assert "agent-6" not in text


def test_every_colour_follows_the_page() -> None:
    text = svg({f"agent-{number}": scores(*even(0.1 * number)) for number in range(9)})
    assert "#" not in text.replace("url(#", "").replace('href="#', "")
    assert "var(--line-5)" in text


def test_names_cannot_break_out_of_the_picture() -> None:
    text = svg({"<script>alert(1)</script> $x_1$ \x1b[31m": scores(*even(0.5))})
    assert "<script>" not in text
    assert "\x1b" not in text


def test_the_same_scores_give_the_same_picture() -> None:
    entries = {"a": scores(0.9, 0.5, None, 0.7, 0.6), "b": scores(*even(0.4))}
    with drawing():
        first, second = png(radar_chart(entries)), png(radar_chart(entries))
    assert first == second
    assert first.startswith(b"\x89PNG")
    assert len(BytesIO(first).read()) > 10_000


def test_without_agents_the_chart_says_so() -> None:
    assert "no agent" in svg({})
