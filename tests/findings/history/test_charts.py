from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import numpy as np

from agentdyno.findings.history.charts import BETTER, WORSE, history_chart
from agentdyno.findings.history.judge import history
from agentdyno.findings.history.model import History, HistoryPoint
from agentdyno.findings.run.charts import drawing
from agentdyno.show.axes import MUTED

from .test_tables import HOSTILE, STEPS, made


def texts(item: History) -> list[str]:
    (axes,) = history_chart(item).axes
    return [text.get_text() for text in axes.texts]


def bars(item: History) -> list[tuple[str, str]]:
    """Colour and dash of the vertical lines that mark changes."""
    (axes,) = history_chart(item).axes
    found = []
    for line in axes.lines:
        ends = np.asarray(line.get_xydata(), dtype=np.float64)
        if len(ends) == 2 and ends[0, 0] == ends[1, 0] and ends[:, 1].tolist() == [0.0, 1.0]:
            found.append((str(line.get_color()), "solid" if line.get_linestyle() == "-" else "dashed"))
    return found


def drawn(item: History, kind: str = "png") -> bytes:
    stream = BytesIO()
    with drawing():
        history_chart(item).savefig(stream, format=kind)
    return stream.getvalue()


def test_changes_are_coloured_by_what_they_mean_and_dashed_while_provisional() -> None:
    assert bars(STEPS) == [(WORSE, "solid"), (BETTER, "solid"), (WORSE, "dashed")]


def test_a_change_with_the_suite_has_neither_colour() -> None:
    points = [replace(point, suite="a" if place < 30 else "b") for place, point in enumerate(STEPS.points[:60])]
    found = history("helper", "duration_s", points, unit="s", higher_is_better=False)
    assert bars(found) == [(MUTED, "solid")]
    assert "+50 %, the suite changed" in texts(found)


def test_changes_versions_and_the_baseline_are_named() -> None:
    found = texts(STEPS)
    assert {"+50 % worse", "-20 % better", "1.3", "1.4", "1.5", "1.6", "baseline"} <= set(found)


def test_levels_are_the_medians_between_changes() -> None:
    (axes,) = history_chart(STEPS).axes
    levels = [round(float(np.asarray(part.get_paths()[0].vertices)[0, 1]), 2) for part in axes.collections]
    assert levels == [1.0, 1.5, 1.2, 2.0]


def test_histories_of_nothing_one_point_and_hostile_names_are_drawn() -> None:
    hostile = made((1.0, 30, HOSTILE), (1.5, 30, "$x$"), subject=HOSTILE, benchmark=HOSTILE)
    for item in (made(), made((1.0, 1, "1")), made((0.0, 20, "1")), hostile):
        assert drawn(item).startswith(b"\x89PNG")


def test_the_same_history_gives_the_same_picture() -> None:
    assert drawn(STEPS) == drawn(STEPS)
    assert b"<svg" in drawn(STEPS, "svg")


def test_a_drift_is_drawn_as_its_slope_and_not_as_a_level() -> None:
    points = [HistoryPoint(86_400_000 * night, 1.05**night) for night in range(20)]
    item = history("helper", "cost_usd", points, unit="usd", higher_is_better=False)
    (axes,) = history_chart(item).axes
    assert not axes.collections, "levels are lines of a collection"
    ends = [np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines]
    assert any(len(end) == 2 and end[1] / end[0] > 2.4 for end in ends)
