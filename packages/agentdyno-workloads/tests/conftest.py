"""What tests of this package share with those of the core."""

from __future__ import annotations

from tests.properties import use_profiles

use_profiles()
