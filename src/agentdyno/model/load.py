"""Load put on a target: what is asked of it, and what was seen in each window of time.

An arm of a load run is (target, scenario), a sample is one ``Window``. Every figure of a run follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.sample import LEFT_OUT
from agentdyno.settings.load import (
    ARRIVALS,
    BURSTINESS,
    CLIENT_PROCESSES,
    CLIENTS,
    CONNECTIONS,
    COUNT,
    MAX_DURATION,
    MAX_REQUESTS,
    PROFILE,
    REQUEST_TIMEOUT,
    WINDOW,
)
from agentdyno.settings.load_requests import DISTRIBUTION, HIGH, LOW, MEAN, METHOD, SHARED, SIGMA, THINK, TURNS


class Dialect(StrEnum):
    """How the target is spoken to. ``agent``: through the agent contract, one call a request."""

    HTTP = "http"
    OPENAI = "openai"
    OLLAMA = "ollama"
    AGENT = "agent"


class Arrivals(StrEnum):
    """How requests come. ``closed``: a fixed number is in flight, the next one starts when one ends; the target then
    sets the pace, so that its rate says nothing about what it would do with independent users."""

    CONSTANT = "constant"
    POISSON = "poisson"
    GAMMA = "gamma"
    CLOSED = "closed"
    TRACE = "trace"


class Outcome(StrEnum):
    """How a request ended. Success needs status 2xx, a finish marker where the dialect has one, and no error object.

    ``http_error``: any other status, or no connection. ``stream_error``: an error object, or bytes that are not the
    protocol. ``truncated``: the answer ended in an orderly way before its finish marker. ``reset``: the connection
    was lost in the middle. ``timeout``: not complete in time. ``rate_limited``: status 429 (or 503 with Retry-After).
    ``check_failed``: a check of the user's journey did not hold.
    """

    OK = "ok"
    HTTP_ERROR = "http_error"
    STREAM_ERROR = "stream_error"
    TRUNCATED = "truncated"
    RESET = "reset"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    CHECK_FAILED = "check_failed"


class TokenSource(StrEnum):
    """Where a count of output tokens comes from: the server's usage, Ollama's ``eval_count``, or counted chunks."""

    USAGE = "usage"
    OLLAMA = "ollama"
    CHUNKS = "chunks"


@dataclass(frozen=True, slots=True)
class Stage:
    """A stretch of time. In open loop the rate goes linearly from ``rate`` to ``rate_to`` (requests a second; the
    same where ``None``); in closed loop ``concurrency`` requests are in flight, going linearly to ``concurrency_to``.

    ``label`` is what pictures shade it by: ``steady``, ``ramp``, ``spike``, ``recovery``, ``fault``…
    """

    label: str
    duration_s: float
    rate: float = 0.0
    rate_to: float | None = None
    concurrency: int = 0
    concurrency_to: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What a driver is asked to do in one go: stages, one after the other, with a schedule fixed before the first.

    ``requests`` names the set of requests to draw from (``""`` is the target's own; ``large_inputs`` has others).
    ``drain_s`` is how long answers are waited for after the last stage, at most; what is open then is a ``timeout``.
    ``gamma_shape`` is of gamma arrivals (1 is Poisson, less is burstier). ``note`` is kept in every window of the
    step (the fault that is on, the size of the input, the memory that is left).
    """

    name: str
    stages: tuple[Stage, ...]
    arrivals: Arrivals = field(default=Arrivals(ARRIVALS.default))
    seed: int = 0
    gamma_shape: float = BURSTINESS.default
    requests: str = ""
    drain_s: float = 30.0
    honour_retry_after: bool = False
    note: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def duration_s(self) -> float:
        return sum(stage.duration_s for stage in self.stages)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of positive values in buckets that each are 1 % wider than the one before: bucket ``i`` holds values
    from ``1.01**i`` to ``1.01**(i+1)`` nanoseconds, in ``buckets`` as ``{str(i): count}``. ``analysis.histograms``
    makes, adds and asks them; a quantile is right to half a percent. ``total`` is the sum of the values, in seconds.
    """

    buckets: Mapping[str, int] = field(default_factory=dict)
    count: int = 0
    total: float = 0.0
    maximum: float = 0.0


@dataclass(frozen=True, slots=True)
class ClientPart:
    """What one of the clients on other machines had to do with a window. ``lag`` and ``wait`` are as in ``Window``,
    ``cpu`` is the share of a core that it used, ``held`` that of the time in which it waited for one. ``lost`` says
    why it was gone before the window's end: what it should have asked from then on nobody has asked."""

    asked: int = 0
    sent: int = 0
    unsent: int = 0
    lag: Histogram = field(default_factory=Histogram)
    wait: Histogram = field(default_factory=Histogram)
    cpu: float | None = None
    lost: str = ""
    held: float | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Window:
    """What happened in one window of time. Times are seconds since the arm's first step began.

    A request belongs to the window in which it was *scheduled*, whenever it was sent or answered, so that a slow
    answer cannot hide; only ``completed`` counts by the time of the answer's end. ``asked`` were scheduled, ``sent``
    were sent, ``late`` were sent more than a millisecond after their time, ``unsent`` never (no free connection
    until the step's end). ``outcomes`` counts sent requests by ``Outcome``.

    ``latency`` is from the scheduled time to the end of the answer, ``service`` from sending; both of successes.
    ``ttft`` is from sending to the first chunk with content, reasoning or a tool call; ``queued_ttft`` from the
    scheduled time. ``itl`` pools the gaps between content chunks; ``tpot`` is (last - first) / (tokens - 1) of each
    request. ``lag`` is from the scheduled time to sending, of every sent request, and ``wait`` is how long answers
    that were there waited for the client to read them where that is part of their times (it is not where the kernel
    stamps arrivals): both are the client's own part. ``unread`` is the same waiting wherever it is known, also where
    it is no part of a time: in a closed loop it still slows the pace.

    ``cached_tokens`` are those of the input that the server had kept. ``statuses`` counts failures by HTTP status.

    ``slo_met`` successes meet every objective of the run (null without objectives). ``client_cpu`` is the busiest
    client process's share of a core, ``client_held`` the share of the time in which it had work and waited for one
    (0 where nobody counts that), ``target_rss_bytes`` and ``target_cpu`` the target's process where it is known.
    ``clients`` has the part of each client on another machine; null without any.
    """

    index: int
    step: str
    stage: str
    starts_s: float
    duration_s: float
    asked: int = 0
    sent: int = 0
    late: int = 0
    unsent: int = 0
    completed: int = 0
    retried: int = 0
    in_flight: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    slo_met: int | None = None
    latency: Histogram = field(default_factory=Histogram)
    service: Histogram = field(default_factory=Histogram)
    ttft: Histogram = field(default_factory=Histogram)
    queued_ttft: Histogram = field(default_factory=Histogram)
    itl: Histogram = field(default_factory=Histogram)
    tpot: Histogram = field(default_factory=Histogram)
    lag: Histogram = field(default_factory=Histogram)
    wait: Histogram = field(default_factory=Histogram)
    unread: Histogram = field(default_factory=Histogram)
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    statuses: Mapping[str, int] = field(default_factory=dict)
    token_source: TokenSource | None = None
    chunks_are_tokens: bool | None = None
    received_bytes: int = 0
    client_cpu: float | None = None
    target_cpu: float | None = None
    target_rss_bytes: float | None = None
    examples: Mapping[str, str] = field(default_factory=dict)
    note: Mapping[str, float | str] = field(default_factory=dict)
    simulated: bool = False
    clients: Mapping[str, ClientPart] | None = field(default=None, metadata=LEFT_OUT)
    client_held: float | None = field(default=None, metadata=LEFT_OUT)

    @property
    def ok(self) -> int:
        return self.outcomes.get(Outcome.OK, 0)

    @property
    def failed(self) -> int:
        return sum(self.outcomes.values()) - self.ok


@dataclass(frozen=True, slots=True)
class Objective:
    """One service-level objective: ``metric`` (``latency``, ``ttft``, ``itl``, ``tpot``, ``queued_ttft``,
    ``service``) at ``quantile`` (``None``: the mean), or ``error_rate``, below ``limit`` (seconds, or a share of 1).
    """

    metric: str
    limit: float
    quantile: float | None = None

    @property
    def name(self) -> str:
        """``ttft_p95``, ``latency_mean``, ``error_rate``."""
        if self.metric == "error_rate":
            return self.metric
        return f"{self.metric}_mean" if self.quantile is None else f"{self.metric}_p{self.quantile * 100:g}"


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The client's own error, measured on loopback before the run: seconds. ``rate_per_s`` is the most that this
    client sent there without pacing."""

    lag_p50_s: float
    lag_p99_s: float
    ttft_error_p50_s: float
    ttft_error_p99_s: float
    rate_per_s: float
    requests: int


@dataclass(frozen=True, slots=True)
class LoadTarget:
    """``url`` is empty where the dialect is ``agent``. ``headers`` hold no secret: those come from ``key_env``."""

    name: str
    dialect: Dialect
    url: str = ""
    model: str = ""
    key_env: str = ""
    method: str = METHOD.default
    headers: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    body: object = None
    ca_file: str = ""
    insecure: bool = False

    @property
    def http_method(self) -> str:
        """What goes over the wire: models are always asked with POST."""
        if self.dialect is not Dialect.HTTP or self.method == METHOD.default:
            return "POST"
        return self.method.upper()


@dataclass(frozen=True, slots=True)
class PromptLengths:
    """Lengths in words. ``distribution``: ``fixed`` (mean), ``uniform`` (low, high), ``lognormal`` (mean, sigma of
    the logarithm, cut at low and high), ``trace`` (as recorded). The first ``shared`` words are the same in all."""

    distribution: str = DISTRIBUTION.default
    mean: float = MEAN.default
    sigma: float = SIGMA.default
    low: int = LOW.default
    high: int = HIGH.default
    shared: int = SHARED.default


@dataclass(frozen=True, slots=True)
class Sessions:
    """Conversations of several turns: the next turn is due ``think_s`` after the answer (exponentially distributed
    around it), and holds what was said before."""

    turns: int = TURNS.default
    think_s: float = THINK.default


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How the client behaves. ``connections`` caps those open at once over all processes: a request that is due while
    all are busy goes late, and is counted. ``window_s`` is the length of a window. ``max_requests`` and ``max_s`` are
    ceilings that always apply."""

    processes: int = CLIENT_PROCESSES.default
    connections: int = CONNECTIONS.default
    timeout_s: float = REQUEST_TIMEOUT.default
    window_s: float = WINDOW.default
    max_bytes: int = 32 * 1024 * 1024
    max_requests: int = MAX_REQUESTS.default
    max_s: float = MAX_DURATION.default
    output_tokens: int | None = None
    prompt: str = ""
    prompts: PromptLengths = field(default_factory=PromptLengths)
    sessions: Sessions = field(default_factory=Sessions)
    keep_requests: bool = True
    cpus: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """A usual course of load by name: ``soak``, ``ramp``, ``step``, ``spike`` or ``sawtooth``, from ``level`` to
    ``to`` (requests a second, or in flight where ``closed``) in ``duration_s``, with ``count`` steps or teeth."""

    name: str
    level: float
    to: float
    duration_s: float
    count: int = COUNT.default
    closed: bool = False


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """A load run as its file says it. Either ``scenarios`` (by name), or ``stages`` or a ``shape`` of one's own
    (``scenario`` is then ``custom``), or ``find_limit``. ``rate`` scales the scenarios: requests a second that
    the target is used to. ``dataset`` is the file of the cases to ask with,
    ``journey`` the Python function whose calls are made instead of single requests. ``clients`` says which machines
    put the load on the target, where this one does not.
    """

    target: str
    dialect: Dialect | None = None
    model: str = ""
    key_env: str = ""
    scenarios: tuple[str, ...] = ()
    profile: str = PROFILE.default
    stages: tuple[Stage, ...] = ()
    shape: Shape | None = None
    arrivals: Arrivals = field(default=Arrivals(ARRIVALS.default))
    gamma_shape: float = BURSTINESS.default
    trace: str = ""
    dataset: str = ""
    journey: str = ""
    find_limit: bool = False
    rate: float | None = None
    slo: tuple[Objective, ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    options: LoadOptions = field(default_factory=LoadOptions)
    method: str = METHOD.default
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    input: object = None
    body_options: Mapping[str, object] = field(default_factory=dict)
    ca_file: str = ""
    insecure: bool = False
    own_target: bool = False
    clients: str = field(default=CLIENTS.default, metadata=LEFT_OUT)
