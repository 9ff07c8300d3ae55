"""The ticks of an axis."""

from __future__ import annotations

from matplotlib.figure import Figure

from agentdyno.findings.run.charts import drawing, run_order
from agentdyno.findings.run.charts_points import ArmValues
from agentdyno.show.axes import number_axis


def test_a_constant_has_one_tick_and_no_spread_around_it() -> None:
    axes = Figure().subplots()
    axes.plot([1, 2, 3], [1.0, 1.0, 1.0])
    number_axis(axes, "y", [1.0, 1.0, 1.0], log=False)
    assert list(axes.get_yticks()) == [1.0]


def test_values_that_differ_have_several() -> None:
    axes = Figure().subplots()
    axes.plot([1, 2, 3], [1.0, 1.1, 1.2])
    number_axis(axes, "y", [1.0, 1.1, 1.2], log=False)
    assert len(axes.get_yticks()) > 2


def test_the_picture_of_samples_that_are_all_one_says_one() -> None:
    with drawing():
        figure = run_order(ArmValues("a", "a", "result.rows", "", (1.0,) * 5, 1.0, (1.0, 1.0)))
        figure.draw_without_rendering()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["1"]
