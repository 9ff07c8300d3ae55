"""Statistics: samples in, estimates with intervals out. Knows nothing of benchmarks.

Values are sequences or one-dimensional arrays of finite numbers; anything else raises ValueError.

Names are loaded when first used: a run that judges nothing loads no tests.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# The function has the name of its module, which would stand in its place once loaded: so it comes first.
from .describe import Description, describe, median_absolute_deviation, pass_at_k, pass_hat_k, quantile

if TYPE_CHECKING:
    from .betting import Capital, Decision, MeanSequence, precise_enough
    from .bootstrap import Statistic, bca, hierarchical
    from .effects import (
        Contrast,
        Estimate,
        cliffs_delta,
        cohens_d,
        hodges_lehmann_ratio,
        hodges_lehmann_shift,
        paired_ratio,
    )
    from .intervals import Interval, clustered_mean_interval, median_interval, share_interval, t_interval, wilson
    from .outliers import OutlierClass, OutlierCount, classify, count_outliers, find_fences, without_outliers
    from .power import minimum_detectable_difference, minimum_detectable_ratio, required_n, samples_to_decide
    from .samples import Values
    from .series.changepoint import Change
    from .series.trend import Trend, theil_sen
    from .series.warmup import warmup_end
    from .significance import (
        Significance,
        equivalent,
        holm,
        mann_whitney,
        mcnemar,
        sign_test,
        tost_t,
        wilcoxon_signed_rank,
    )
    from .trimmed import trimmed_t, trimmed_welch

_NAMES = {
    "betting": ("Capital", "Decision", "MeanSequence", "precise_enough"),
    "bootstrap": (
        "Statistic",
        "bca",
        "hierarchical",
    ),
    "effects": (
        "Contrast",
        "Estimate",
        "cliffs_delta",
        "cohens_d",
        "hodges_lehmann_ratio",
        "hodges_lehmann_shift",
        "paired_ratio",
    ),
    "intervals": (
        "Interval",
        "clustered_mean_interval",
        "median_interval",
        "share_interval",
        "t_interval",
        "wilson",
    ),
    "outliers": (
        "OutlierClass",
        "OutlierCount",
        "classify",
        "count_outliers",
        "find_fences",
        "without_outliers",
    ),
    "power": (
        "minimum_detectable_difference",
        "minimum_detectable_ratio",
        "required_n",
        "samples_to_decide",
    ),
    "samples": ("Values",),
    "series.changepoint": ("Change",),
    "series.trend": (
        "Trend",
        "theil_sen",
    ),
    "series.warmup": ("warmup_end",),
    "significance": (
        "Significance",
        "equivalent",
        "holm",
        "mann_whitney",
        "mcnemar",
        "sign_test",
        "tost_t",
        "wilcoxon_signed_rank",
    ),
    "trimmed": (
        "trimmed_t",
        "trimmed_welch",
    ),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Capital",
    "Change",
    "Contrast",
    "Decision",
    "Description",
    "Estimate",
    "Interval",
    "MeanSequence",
    "OutlierClass",
    "OutlierCount",
    "Significance",
    "Statistic",
    "Trend",
    "Values",
    "bca",
    "classify",
    "cliffs_delta",
    "clustered_mean_interval",
    "cohens_d",
    "count_outliers",
    "describe",
    "equivalent",
    "find_fences",
    "hierarchical",
    "hodges_lehmann_ratio",
    "hodges_lehmann_shift",
    "holm",
    "mann_whitney",
    "mcnemar",
    "median_absolute_deviation",
    "median_interval",
    "minimum_detectable_difference",
    "minimum_detectable_ratio",
    "paired_ratio",
    "pass_at_k",
    "pass_hat_k",
    "precise_enough",
    "quantile",
    "required_n",
    "samples_to_decide",
    "share_interval",
    "sign_test",
    "t_interval",
    "theil_sen",
    "tost_t",
    "trimmed_t",
    "trimmed_welch",
    "warmup_end",
    "wilcoxon_signed_rank",
    "wilson",
    "without_outliers",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
