"""Published figures of two runtimes of Rust, scored by one definition: tokens over wall time.

Two agents asked gemma3 on two Ollamas, in six configurations, five runs each (Sahil170595/Chimeraforge on GitHub,
``experiments/TR115_runtime_optimization/results``, commit d1b67d8). The report ranks runtimes by efficiency, which
is a "sequential time" over twice the concurrent one. That sequential time was not measured: it is the sum of how long
the two agents took *together*. Agents that slow each other down take longer, and their efficiency is higher for it;
agents that wait for each other keep their speed and have 50 %.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """What one run's file says: tokens of both agents, seconds from the first start to the last end, and the
    efficiency that was printed, in percent."""

    tokens: int
    wall_s: float
    efficiency: float


PUBLISHED = {
    "tokio-default": (
        # baseline_vs_chimera_gpu80_ctx512
        PublishedRun(1083, 21.8991349, 94.3284),
        PublishedRun(986, 12.6203232, 89.7849),
        PublishedRun(982, 12.7554965, 92.0505),
        PublishedRun(993, 12.6015024, 88.7377),
        PublishedRun(990, 12.6339854, 89.4240),
        # chimera_hetero_gpu80-100_ctx512-1024
        PublishedRun(1101, 21.590822, 94.9363),
        PublishedRun(999, 12.6310664, 90.6467),
        PublishedRun(1116, 14.1919954, 92.4939),
        PublishedRun(487, 5.5264232, 67.8936),
        PublishedRun(1083, 13.9535361, 94.1727),
        # chimera_homo_gpu80_ctx512
        PublishedRun(1069, 12.4812233, 68.4415),
        PublishedRun(461, 5.2832244, 69.9105),
        PublishedRun(1061, 13.1061298, 90.3372),
        PublishedRun(1105, 13.7406733, 91.4754),
        PublishedRun(1113, 14.0772344, 94.4974),
        # chimera_homo_gpu80_ctx1024
        PublishedRun(1134, 14.3588663, 94.3225),
        PublishedRun(1091, 13.6370489, 92.3347),
        PublishedRun(1036, 12.8771269, 91.2667),
        PublishedRun(1044, 13.174039, 92.8827),
        PublishedRun(1071, 13.5155674, 93.1691),
        # chimera_homo_gpu80_ctx2048
        PublishedRun(1036, 13.1238847, 94.0320),
        PublishedRun(1030, 13.086063, 94.2171),
        PublishedRun(1020, 12.9603374, 94.5187),
        PublishedRun(1036, 13.002219, 92.4701),
        PublishedRun(997, 12.3572883, 89.5061),
        # chimera_homo_gpu100_ctx512
        PublishedRun(1040, 20.1039559, 93.6223),
        PublishedRun(1036, 13.3518373, 95.3682),
        PublishedRun(1071, 13.508964, 91.5943),
        PublishedRun(1072, 13.7267664, 94.5195),
        PublishedRun(1046, 12.7385924, 86.2782),
    ),
    "async-std": (
        # baseline_vs_chimera_gpu80_ctx512
        PublishedRun(1014, 19.8487083, 49.9984),
        PublishedRun(1036, 10.4326231, 49.9895),
        PublishedRun(1154, 11.4208834, 49.9891),
        PublishedRun(1040, 10.3991489, 49.9980),
        PublishedRun(1083, 10.5144533, 49.9977),
        # chimera_hetero_gpu80-100_ctx512-1024
        PublishedRun(1001, 18.2101624, 49.9988),
        PublishedRun(1027, 10.2801974, 49.9968),
        PublishedRun(1022, 10.241344, 49.9884),
        PublishedRun(1064, 10.5090225, 49.9982),
        PublishedRun(514, 5.8382743, 49.9949),
        # chimera_homo_gpu80_ctx512
        PublishedRun(1154, 14.4432206, 49.9965),
        PublishedRun(1012, 10.1417744, 49.9974),
        PublishedRun(1129, 11.1513678, 49.9897),
        PublishedRun(1057, 10.5480331, 49.9940),
        PublishedRun(1039, 10.3260513, 49.9982),
        # chimera_homo_gpu80_ctx1024
        PublishedRun(1112, 11.0730709, 49.9984),
        PublishedRun(1042, 10.4560669, 49.9961),
        PublishedRun(966, 9.7601395, 49.9981),
        PublishedRun(1037, 10.4286235, 49.9981),
        PublishedRun(1057, 10.5391929, 49.9931),
        # chimera_homo_gpu80_ctx2048
        PublishedRun(1005, 10.0761466, 49.9972),
        PublishedRun(1007, 10.110361, 49.9962),
        PublishedRun(1005, 9.9843087, 49.9967),
        PublishedRun(1033, 10.2390445, 49.9959),
        PublishedRun(1052, 10.4928273, 49.9954),
        # chimera_homo_gpu100_ctx512
        PublishedRun(1028, 18.2531011, 49.9983),
        PublishedRun(429, 5.1335381, 49.9926),
        PublishedRun(986, 9.9531486, 49.9964),
        PublishedRun(1136, 11.1666485, 49.9964),
        PublishedRun(1030, 10.3185971, 49.9964),
    ),
}


def tokens_per_s(runtime: str) -> float:
    """The mean of a runtime's runs."""
    runs = PUBLISHED[runtime]
    return sum(run.tokens / run.wall_s for run in runs) / len(runs)


def printed_efficiency(runtime: str) -> float:
    """The mean of what was printed, in percent."""
    runs = PUBLISHED[runtime]
    return sum(run.efficiency for run in runs) / len(runs)
