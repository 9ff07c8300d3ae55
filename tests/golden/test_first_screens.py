"""What the first commands of the README and of the tutorial print: a stranger's first screen."""

from __future__ import annotations

import re
from pathlib import Path

from ..command import Bench, Done
from .golden import check
from .plain import without_run_ids

ROOT = Path(__file__).parents[2]
MOST_LINES = 25
"""Of the README's first example, at 80 columns."""
_SAVED = re.compile(r"`([\w./]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ dyno (.*)$", re.MULTILINE)
_MEASURED = re.compile(r"\d+(?:\.\d+)? (?:s|ms|µs|ns|min)\b")


def test_the_first_example_of_the_readme_fits_a_screen(loaded_bench: Bench) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = _COMMAND.search(text)
    assert first is not None
    for name, content in _SAVED.findall(text[: first.start()]):
        loaded_bench.write(name, content)
    done = loaded_bench.dyno(*first[1].split(), COLUMNS="80")
    assert done.code == 0, done.err
    lines = [piece for line in (done.err + done.out).splitlines() for piece in (line[:80], line[80:160]) if piece]
    assert len(lines) <= MOST_LINES, "\n".join(lines)
    check("first_screens/readme.txt", _plain(done))


def test_the_first_suite_of_the_tutorial_fits_a_screen(loaded_bench: Bench) -> None:
    loaded_bench.dyno("init")
    check("first_screens/suite_tutorial.txt", _plain(loaded_bench.dyno("run", COLUMNS="80")))
    check("first_screens/suite_tutorial_failed.txt", _plain(loaded_bench.dyno("show", "--failed", COLUMNS="80")))


def _plain(done: Done) -> str:
    """Without what differs from run to run: times, ids, and the width of columns, which times decide."""
    text = _MEASURED.sub("<time>", without_run_ids(f"{done.out}--\n{done.err}"))
    return re.sub(r" {2,}", "  ", re.sub("─+", "─", text))
