from __future__ import annotations

from collections.abc import Iterator

import pytest

from .receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made
