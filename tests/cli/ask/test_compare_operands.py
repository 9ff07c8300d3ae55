"""``dyno compare`` where something else than results is named: it says what to type."""

from __future__ import annotations

import pytest

from ...command import Bench


@pytest.mark.parametrize(
    ("operands", "typed"),
    [
        (("a.py@f", "b.py@g"), "dyno run a.py@f --against b.py@g"),
        (("a.py", "last"), "dyno run a.py --against last"),
        (("sleep 0.1", "sleep 0.2"), "dyno time 'sleep 0.1' 'sleep 0.2'"),
        (("last:n=1",), "last:n=1 is one arm; name a second one: dyno compare RUN:ARM RUN:ARM"),
    ],
)
def test_what_was_not_measured_is_answered_with_what_measures_it(
    operands: tuple[str, ...], typed: str, bench: Bench
) -> None:
    done = bench.dyno("compare", *operands)
    assert done.code == 2
    assert typed in " ".join(done.err.split())
