"""Which examples property tests are tried with.

``make test`` tries the same ones every time, so that it passes or fails for everybody alike. ``make soak`` (or
``--hypothesis-profile=explore``) tries new ones, ten times as many; what fails there becomes an ``@example``.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

FIXED, EXPLORE = "fixed", "explore"
_DEFAULT_EXAMPLES = 100
_TIMES_AS_MANY = 10
_NOT_TIMED = (HealthCheck.too_slow,)
"""How long a busy machine takes to draw an example says nothing about what is tested."""


def use_profiles() -> None:
    """Before any test is imported: settings inherit from the profile that is loaded when they are made."""
    settings.register_profile(
        FIXED, derandomize=True, database=None, deadline=None, print_blob=True, suppress_health_check=_NOT_TIMED
    )
    settings.register_profile(
        EXPLORE,
        derandomize=False,
        deadline=None,
        print_blob=True,
        suppress_health_check=_NOT_TIMED,
        max_examples=_DEFAULT_EXAMPLES * _TIMES_AS_MANY,
    )
    settings.load_profile(EXPLORE if os.environ.get("DYNO_SOAK") else FIXED)
    # Hypothesis also draws constants of those of our modules that happen to be loaded, which depends on the tests
    # that ran before in the same process: with them, fixed examples would not be fixed.
    assert hasattr(providers.HypothesisProvider, "_local_constants")
    providers.HypothesisProvider._local_constants = Constants()  # type: ignore[assignment]


def exploring() -> bool:
    return settings.get_current_profile_name() == EXPLORE


def examples(count: int, *but: HealthCheck) -> settings:
    """So many examples, and ten times as many when exploring. Health checks named in ``but`` are left out."""
    times = _TIMES_AS_MANY if exploring() else 1
    return settings(max_examples=count * times, suppress_health_check=(*_NOT_TIMED, *but))
