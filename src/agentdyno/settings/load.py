"""Settings of load: what is asked of a target, and how the client behaves."""

from __future__ import annotations

from agentdyno.settings.run import MAX_SECONDS
from agentdyno.settings.setting import LOAD, LOAD_COMMAND, PROMPT_WORDS, Setting

MAX_RATE = 1_000_000
MAX_IN_FLIGHT = 100_000
MAX_WORDS = 1_000_000

# What is asked.
SCENARIOS = Setting(
    "scenarios",
    ("array",),
    default=(),
    spelled="names",
    option="--scenario",
    metavar="LIST",
    example=["spike_load"],
    description="Stress scenarios by name, or all",
    help="Stress scenarios, or all.  [default without a rate]",
    scopes=LOAD,
)
PROFILE = Setting(
    "profile",
    ("string",),
    default="standard",
    choices=("quick", "standard", "full"),
    option="--profile",
    example="quick",
    description="How long and how hard the scenarios are",
    help="How long and how hard.",
    scopes=LOAD,
)
FIND_LIMIT = Setting(
    "find_limit",
    ("boolean",),
    default=False,
    option="--find-limit",
    example=True,
    description="Search the highest rate that meets the SLO",
    help="Search the highest rate that meets the objectives.",
    scopes=LOAD,
)
SLO = Setting(
    "slo",
    ("string",),
    default="",
    spelled="line",
    option="--slo",
    metavar="LIST",
    example="ttft_p95<200ms, error_rate<1%",
    description="Objectives",
    help='Objectives, such as "ttft_p95<200ms, error_rate<1%".',
    scopes=LOAD,
)
RATE = Setting(
    "rate",
    ("number", "null"),
    default=None,
    above=0,
    maximum=MAX_RATE,
    option="--rate",
    example=1000,
    description="Requests a second",
    help="Requests a second: open loop.",
    scopes=LOAD,
)
IN_FLIGHT = Setting(
    "concurrency",
    ("integer", "null"),
    default=None,
    minimum=1,
    maximum=MAX_IN_FLIGHT,
    option="--concurrency",
    example=8,
    description="Requests in flight: closed loop",
    scopes=LOAD,
)
SHAPE = Setting(
    "shape",
    ("string", "null"),
    default=None,
    choices=("soak", "ramp", "step", "spike", "sawtooth"),
    option="--shape",
    example="ramp",
    description="A usual course, from rate or concurrency to `to`",
    help="A usual course, from --rate or --concurrency to --to.",
    scopes=LOAD,
)
TO = Setting(
    "to",
    ("number", "null"),
    default=None,
    minimum=0,
    maximum=MAX_RATE,
    option="--to",
    example=500,
    description="Where a shape goes: its end, or its peak",
    scopes=LOAD,
)
COUNT = Setting(
    "count",
    ("integer",),
    default=5,
    minimum=1,
    maximum=1000,
    option="--count",
    example=5,
    description="Steps or teeth of a shape",
    shows_default=True,
    scopes=LOAD,
)
DURATION = Setting(
    "duration_s",
    ("number", "null"),
    default=10.0,
    above=0,
    maximum=MAX_SECONDS,
    option="--duration",
    example=300,
    description="How long, with rate or concurrency",
    help="Seconds.",
    shows_default=True,
    scopes=LOAD,
)
ARRIVALS = Setting(
    "arrivals",
    ("string",),
    default="poisson",
    choices=("constant", "poisson", "gamma"),
    option="--arrivals",
    example="poisson",
    description="How requests come in open loop",
    help="How requests come.",
    scopes=LOAD,
)
BURSTINESS = Setting(
    "burstiness",
    ("number",),
    default=1.0,
    above=0,
    maximum=1000,
    option="--burstiness",
    example=0.5,
    description="Shape of gamma arrivals: 1 is Poisson, less is burstier",
    scopes=LOAD,
)
TRACE = Setting(
    "trace",
    ("string",),
    default="",
    spelled="file",
    option="--trace",
    example="trace.csv",
    description="A recorded trace (CSV or JSONL: timestamp, lengths)",
    help="Replay a trace (CSV or JSONL).",
    scopes=LOAD,
)

# The target and its requests.
MODEL = Setting(
    "model",
    ("string",),
    default="",
    spelled="line",
    option="--model",
    example="smollm2-135m-instruct",
    description="The model to ask for",
    scopes=LOAD,
)
DIALECT = Setting(
    "dialect",
    ("string", "null"),
    default=None,
    choices=("http", "openai", "ollama", "agent"),
    option="--dialect",
    example="openai",
    description="How the target is spoken to; found out from the URL without it",
    help="How to speak to it.",
    scopes=LOAD,
)
API_KEY_ENV = Setting(
    "api_key_env",
    ("string",),
    default="",
    spelled="line",
    option="--api-key-env",
    metavar="NAME",
    example="OPENAI_API_KEY",
    description="Environment variable with the key",
    scopes=LOAD,
)
PROMPT = Setting(
    "prompt",
    ("string",),
    default="",
    spelled="long text",
    option="--prompt",
    example="Hi.",
    description="What is asked, every time",
    scopes=LOAD,
)
PROMPT_LENGTH = Setting(
    "prompt_words",
    ("integer", "null"),
    default=32,
    minimum=1,
    maximum=MAX_WORDS,
    option="--prompt-words",
    description="Length of made-up prompts",
    shows_default=True,
    scopes=LOAD_COMMAND,
)
OUTPUT_TOKENS = Setting(
    "output_tokens",
    ("integer", "null"),
    default=None,
    minimum=1,
    maximum=1_000_000,
    option="--output-tokens",
    example=64,
    description="Longest answer in tokens",
    help="Longest answer.",
    scopes=LOAD,
)
TURNS = Setting(
    "turns",
    ("integer",),
    default=1,
    minimum=1,
    maximum=1000,
    option="--turns",
    example=4,
    description="Turns of a conversation",
    scopes=LOAD,
)
THINK = Setting(
    "think_s",
    ("number",),
    default=1.0,
    minimum=0,
    maximum=86_400,
    option="--think",
    example=2,
    description="Seconds between an answer and the next turn, on average",
    help="Seconds before the next turn.",
    scopes=LOAD,
)
METHOD = Setting(
    "method",
    ("string",),
    default="POST",
    choices=("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"),
    option="--method",
    example="GET",
    description="HTTP method of a plain target",
    help="Plain HTTP.",
    scopes=LOAD,
)
HEADERS = Setting(
    "headers",
    ("object",),
    default=None,
    option="--header",
    metavar="NAME:VALUE",
    description="Headers of a plain target; no secrets",
    help="Plain HTTP: a header; no secrets.",
    scopes=LOAD_COMMAND,
)
BODY = Setting(
    "body",
    ("string", "null"),
    default=None,
    option="--body",
    metavar="JSON",
    description="JSON body of a plain target",
    help="Plain HTTP: the body.",
    scopes=LOAD_COMMAND,
)
INPUT = Setting(
    "input",
    ("string", "null"),
    default=None,
    option="--input",
    dest="text",
    metavar="TEXT",
    description="Input of the case that an agent is given",
    help="What an agent is asked.",
    scopes=LOAD_COMMAND,
)
CA_FILE = Setting(
    "ca_file",
    ("string",),
    default="",
    spelled="existing file",
    option="--ca-file",
    example="ca.pem",
    description="Certificates to trust, in PEM",
    help="Certificates to trust.",
    scopes=LOAD,
)
INSECURE = Setting(
    "insecure",
    ("boolean",),
    default=False,
    option="--insecure",
    example=True,
    description="Do not check the certificate",
    scopes=LOAD,
)
OWN_TARGET = Setting(
    "own_target",
    ("boolean",),
    default=False,
    option="--i-own-this-target",
    example=True,
    description="The target is on a public address, and it is yours",
    help="The target is public, and it is yours.",
    scopes=LOAD,
)
PRINT_SPEC = Setting(
    "print_spec",
    ("boolean",),
    default=False,
    option="--print-spec",
    description="Print the file that says the same, and run nothing",
    scopes=LOAD_COMMAND,
)

# Lengths of prompts, under ``prompt_words:``.
DISTRIBUTION = Setting(
    "distribution",
    ("string",),
    default="fixed",
    choices=("fixed", "uniform", "lognormal"),
    example="lognormal",
    description="How lengths are drawn",
    scopes=PROMPT_WORDS,
)
MEAN = Setting(
    "mean",
    ("number",),
    default=float(PROMPT_LENGTH.default),
    minimum=1,
    maximum=MAX_WORDS,
    example=200,
    description="Words on average",
    scopes=PROMPT_WORDS,
)
SIGMA = Setting(
    "sigma",
    ("number",),
    default=0.5,
    above=0,
    maximum=5,
    example=0.5,
    description="Spread of the logarithm (lognormal)",
    scopes=PROMPT_WORDS,
)
LOW = Setting(
    "low",
    ("integer",),
    default=1,
    minimum=1,
    maximum=MAX_WORDS,
    example=10,
    description="Fewest words",
    scopes=PROMPT_WORDS,
)
HIGH = Setting(
    "high",
    ("integer",),
    default=4096,
    minimum=1,
    maximum=MAX_WORDS,
    example=4096,
    description="Most words",
    scopes=PROMPT_WORDS,
)
SHARED = Setting(
    "shared",
    ("integer",),
    default=0,
    minimum=0,
    maximum=MAX_WORDS,
    example=100,
    description="First words that all have alike",
    scopes=PROMPT_WORDS,
)

# The client and its ceilings.
CLIENT_PROCESSES = Setting(
    "processes",
    ("integer",),
    default=1,
    minimum=1,
    maximum=256,
    option="--processes",
    example=2,
    description="Client processes",
    shows_default=True,
    scopes=LOAD,
)
CONNECTIONS = Setting(
    "connections",
    ("integer",),
    default=1000,
    minimum=1,
    maximum=100_000,
    option="--connections",
    example=100,
    description="Connections at once, at most",
    note="a request that is due while all are busy goes late, and is counted",
    shows_default=True,
    scopes=LOAD,
)
REQUEST_TIMEOUT = Setting(
    "timeout_s",
    ("number",),
    default=30.0,
    above=0,
    maximum=MAX_SECONDS,
    option="--timeout",
    example=30,
    description="Longest answer in seconds",
    help="Of a request, in seconds.",
    scopes=LOAD,
)
WINDOW = Setting(
    "window_s",
    ("number",),
    default=1.0,
    minimum=0.05,
    maximum=3600,
    option="--window",
    example=1,
    description="Length of a window in seconds",
    help="Length of a window, in seconds.",
    scopes=LOAD,
)
MAX_REQUESTS = Setting(
    "max_requests",
    ("integer",),
    default=10_000_000,
    minimum=1,
    maximum=1_000_000_000,
    option="--max-requests",
    example=100_000,
    description="No more requests than this",
    help="No more than this.",
    shows_default=True,
    scopes=LOAD,
)
MAX_DURATION = Setting(
    "max_s",
    ("number",),
    default=7200.0,
    above=0,
    maximum=MAX_SECONDS,
    option="--max-seconds",
    example=600,
    description="No longer than this",
    scopes=LOAD,
)
