"""What tests of this package share with those of the core."""

from __future__ import annotations

import pytest
from tests.properties import use_profiles
from tests.timed import mark_timed

use_profiles()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_timed(items)
