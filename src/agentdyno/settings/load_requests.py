"""Settings of load: the target, and what its requests say."""

from __future__ import annotations

from agentdyno.settings.load import MAX_WORDS
from agentdyno.settings.setting import LOAD, LOAD_COMMAND, PROMPT_WORDS, Setting

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
DATASET = Setting(
    "dataset",
    ("string",),
    default="",
    spelled="file",
    option="--dataset",
    metavar="FILE",
    example="cases.jsonl",
    description="Cases to ask with: a data file or a suite; the column `weight` says how often each",
    help="Ask the cases of a data file or a suite.",
    scopes=LOAD,
)
JOURNEY = Setting(
    "journey",
    ("string",),
    default="",
    spelled="line",
    option="--journey",
    metavar="FILE.py@NAME",
    example="journeys.py@buyer",
    description="An async Python function that makes several calls: rates and numbers in flight are of journeys",
    help="Calls of a Python function, not single requests.",
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
    default="auto",
    choices=("auto", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"),
    option="--method",
    example="GET",
    description="HTTP method of a plain target; auto is GET without a body or prompt, else POST",
    help="Plain HTTP; auto is GET without a body or prompt.",
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
