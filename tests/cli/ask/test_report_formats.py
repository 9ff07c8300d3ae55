"""``--format``, which takes several names at once or one after the other."""

from __future__ import annotations

from agentdyno.model.codec import encode

from ...command import Bench
from ...given_results import Factory


def test_every_format_that_is_said_is_written(bench: Bench, make: Factory) -> None:

    bench.write("result.json", encode(make.result([make.arm("a", [1.0, 1.1, 1.2])])))
    done = bench.dyno("report", "result.json", "--format", "md", "--format", "csv,html", "--output-dir", "out")
    assert done.code == 0, done.err
    assert {path.name for path in (bench.folder / "out").iterdir()} >= {"report.md", "report.html", "summary.csv"}
    assert bench.dyno("report", "result.json", "--output-dir", "default").code == 0
    assert [path.name for path in (bench.folder / "default").iterdir()] == ["report.html"]


def test_every_objective_of_a_load_is_read(bench: Bench) -> None:
    done = bench.dyno(
        *("load", "http://127.0.0.1:9/", "--rate", "5", "--duration", "1", "--dry-run"),
        *("--slo", "nonsense", "--slo", "error_rate<1%"),
    )
    assert done.code == 2
    assert "nonsense" in done.err
