from __future__ import annotations

import pytest

from ..command import Bench


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    """Commands of these tests are run often and do little."""
    return loaded_bench
