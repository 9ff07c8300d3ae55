"""Thresholds of the bands: from where a figure is good, and from where it is a red flag."""

from __future__ import annotations

from agentdyno.settings.setting import BANDS, Setting

REAL_TIME_P95 = Setting(
    "latency_p95_s",
    ("number",),
    default=0.2,
    above=0,
    example=0.2,
    description="Latency below which 95 % of answers are fit for real-time use, in seconds",
    scopes=BANDS,
)
POOR_P99 = Setting(
    "latency_p99_s",
    ("number",),
    default=1.0,
    above=0,
    example=1.0,
    description="Latency above which the slowest 1 % of answers are a red flag, in seconds",
    scopes=BANDS,
)
ENOUGH_THROUGHPUT = Setting(
    "throughput_per_s",
    ("number",),
    default=10.0,
    above=0,
    example=10,
    description="Conversations a second above which throughput is enough for production",
    scopes=BANDS,
)
MEMORY = Setting(
    "memory_gb",
    ("number",),
    default=30.0,
    above=0,
    example=30,
    description="Memory below which a training fits one GPU, in GB (10^9 bytes)",
    scopes=BANDS,
)
MEMORY_GROWTH = Setting(
    "memory_growth",
    ("number",),
    default=0.05,
    above=0,
    example=0.05,
    description="Growth of memory over a run, as a share of where it began, from which it is a leak",
    scopes=BANDS,
)
GPU_BUSY = Setting(
    "gpu_busy",
    ("number",),
    default=0.8,
    above=0,
    maximum=1,
    example=0.8,
    description="Share of the GPU in use above which it is well used",
    scopes=BANDS,
)
GPU_IDLE = Setting(
    "gpu_idle",
    ("number",),
    default=0.5,
    above=0,
    maximum=1,
    example=0.5,
    description="Share of the GPU in use below which something else holds it up",
    scopes=BANDS,
)
CV_EXCELLENT = Setting(
    "cv_excellent",
    ("number",),
    default=0.05,
    above=0,
    example=0.05,
    description="Coefficient of variation below which stability is excellent",
    scopes=BANDS,
)
CV_GOOD = Setting(
    "cv_good",
    ("number",),
    default=0.1,
    above=0,
    example=0.1,
    description="Coefficient of variation below which stability is good",
    scopes=BANDS,
)
CV_MODERATE = Setting(
    "cv_moderate",
    ("number",),
    default=0.15,
    above=0,
    example=0.15,
    description="Coefficient of variation below which stability is moderate; above it is poor",
    scopes=BANDS,
)
EPISODES_OUTSTANDING = Setting(
    "episodes_outstanding",
    ("number",),
    default=250.0,
    above=0,
    example=250,
    description="Episodes to 80 % of the reward below which convergence is outstanding",
    scopes=BANDS,
)
EPISODES_EXCELLENT = Setting(
    "episodes_excellent",
    ("number",),
    default=300.0,
    above=0,
    example=300,
    description="Episodes to 80 % of the reward below which convergence is excellent",
    scopes=BANDS,
)
EPISODES_GOOD = Setting(
    "episodes_good",
    ("number",),
    default=400.0,
    above=0,
    example=400,
    description="Episodes to 80 % of the reward below which convergence is good",
    scopes=BANDS,
)
TTFT_TARGET = Setting(
    "ttft_target_s",
    ("number",),
    default=0.45,
    above=0,
    example=0.45,
    description="Time to the first token below which it is excellent, in seconds",
    scopes=BANDS,
)
TTFT_GOOD = Setting(
    "ttft_good_s",
    ("number",),
    default=0.5,
    above=0,
    example=0.5,
    description="Time to the first token below which it is good, in seconds",
    scopes=BANDS,
)
SPEEDUP_TARGET = Setting(
    "speedup_target",
    ("number",),
    default=1.9,
    above=0,
    example=1.9,
    description="Speed-up of two agents above which it is excellent; of n agents n / 2 times as much",
    scopes=BANDS,
)
SPEEDUP_TYPICAL = Setting(
    "speedup_typical",
    ("number",),
    default=1.6,
    above=0,
    example=1.6,
    description="Speed-up of two agents above which it is typical; of n agents n / 2 times as much",
    scopes=BANDS,
)
EFFICIENCY_TARGET = Setting(
    "efficiency_target",
    ("number",),
    default=0.95,
    above=0,
    maximum=1,
    example=0.95,
    description="Parallel efficiency above which it is excellent",
    scopes=BANDS,
)
EFFICIENCY_TYPICAL = Setting(
    "efficiency_typical",
    ("number",),
    default=0.85,
    above=0,
    maximum=1,
    example=0.85,
    description="Parallel efficiency above which it is typical",
    scopes=BANDS,
)
CONTENTION_ACCEPTABLE = Setting(
    "contention_acceptable",
    ("number",),
    default=0.1,
    above=0,
    maximum=1,
    example=0.1,
    description="Share of agents held up below which it is acceptable",
    scopes=BANDS,
)
CONTENTION_PROBLEMATIC = Setting(
    "contention_problematic",
    ("number",),
    default=0.3,
    above=0,
    maximum=1,
    example=0.3,
    description="Share of agents held up above which it is a problem",
    scopes=BANDS,
)
ASCENDING = (
    (CV_EXCELLENT, CV_GOOD, CV_MODERATE),
    (EPISODES_OUTSTANDING, EPISODES_EXCELLENT, EPISODES_GOOD),
    (GPU_IDLE, GPU_BUSY),
    (TTFT_TARGET, TTFT_GOOD),
    (SPEEDUP_TYPICAL, SPEEDUP_TARGET),
    (EFFICIENCY_TYPICAL, EFFICIENCY_TARGET),
    (CONTENTION_ACCEPTABLE, CONTENTION_PROBLEMATIC),
)
"""Thresholds of one figure, each at most the next."""
