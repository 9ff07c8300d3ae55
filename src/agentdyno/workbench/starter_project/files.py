"""The texts of the starter's files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """An agent that an API key in the environment makes possible; ``active`` where it works as it stands."""

    variable: str
    name: str
    uses: str
    base_url: str = ""
    active: bool = False


OFFERS = (
    Offer("OPENAI_API_KEY", "gpt", "openai:gpt-5-mini", active=True),
    Offer("OLLAMA_HOST", "gemma", "ollama:gemma3", active=True),
    Offer("ANTHROPIC_API_KEY", "claude", "openai:claude-haiku-4-5", "https://api.anthropic.com/v1"),
    Offer(
        "GEMINI_API_KEY",
        "gemini",
        "openai:gemini-2.5-flash",
        "https://generativelanguage.googleapis.com/v1beta/openai",
    ),
    Offer("MISTRAL_API_KEY", "mistral", "openai:mistral-small-latest", "https://api.mistral.ai/v1"),
    Offer("GROQ_API_KEY", "groq", "openai:llama-3.3-70b-versatile", "https://api.groq.com/openai/v1"),
    Offer("DEEPSEEK_API_KEY", "deepseek", "openai:deepseek-chat", "https://api.deepseek.com/v1"),
    Offer("OPENROUTER_API_KEY", "openrouter", "openai:openai/gpt-5-mini", "https://openrouter.ai/api/v1"),
)

WORKSPACE = """\
# What belongs to this project. `dyno` finds this file from any folder below it.

# Results of one workspace are compared with each other.
workspace: default

# Agents by name. `use` is file.py@function, module:function, cmd:PROGRAM, stdio:PROGRAM, openai:MODEL, ollama:MODEL
# or a URL.
# Further keys: version, config (passed to the agent), env (names of environment variables it may read; never
# their values), description, sweep (lists of configuration values; each combination is an agent of its own).
agents:
  starter:
    use: agent.py@answer
    description: Arithmetic and a few rules
{offers}
# Suite files, as paths or patterns.
suites:
  - suites/*.yaml

# Python files that register experiments, beside those in the folder experiments.
# imports: [benchmarks/*.py]

# What `dyno run` runs when it is told nothing else.
run:
  agents: [starter]

# US dollars per million tokens, for models that the built-in price list does not know or prices differently.
prices: {}
#  my-model: {input: 0.25, output: 2.00, cached: 0.025}

# US dollars per hour of CPU time, so that agents that run on this machine have a cost too.
# compute_price_per_cpu_hour: 0.04

# What may not get worse before `dyno check` lets a change through. Critical metrics block, supporting ones warn,
# advisory ones are shown; the tolerance is points of a score, else a part of the baseline.
gate:
  metrics:
    accuracy: {tier: critical, tolerance: 0.02}
    error_rate: {tier: critical, tolerance: 0.02}
    duration_s: {tier: supporting, tolerance: 0.10}
#    reliability: off
#  # Facts about single cases, beside these tests. Each of them blocks:
#  minimum: {accuracy: 0.9}          # what this run has to reach
#  must_pass: [sum, "quot*"]         # right in every try: ids, tags (metadata: {tags: [...]}), patterns
#  max_broken: 0                     # right in every try before, wrong in every one now; from 3 epochs on
#  require: {pass_rate: 0.8}         # of every case; those in doubt are tried again, at most 20 times
#  quarantine:                       # cases that do not block until a day; after it the check fails
#    - {case: three-numbers, reason: the agent cannot do precedence yet, until: 2026-12-31}

# From which change on `dyno history --regressions` tells of one, in parts of the value before; `all` is the others.
# thresholds: {all: 0.1, accuracy: 0.05}

# Where new alerts go after a run of the service, or of `dyno run --alert`; secrets come from the environment.
# alerts: {team: {url_env: SLACK_WEBHOOK_URL, body: slack}}

# Weights of the dimensions in overall scores; those that are not named keep their own.
# weights: {accuracy: 0.30, speed: 0.20, efficiency: 0.20, cost: 0.15, reliability: 0.15}

# Where results are kept: a file, or a URL such as postgresql://localhost/dyno. DYNO_STORE goes first where it is set.
store: .dyno/dyno.db
"""

AGENT = '''\
"""A small agent to start with: arithmetic and a few rules. Replace it with yours."""

import re

CAPITALS = {"france": "Paris", "japan": "Tokyo", "kenya": "Nairobi", "peru": "Lima"}
NUMBER = r"(-?\\d+(?:\\.\\d+)?)"
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else None,
}


def answer(text: str) -> str:
    """The answer to one question, or "I do not know"."""
    question = text.lower()
    found = re.search(rf"{NUMBER}\\s*([-+*/])\\s*{NUMBER}", question)
    if found:
        result = OPERATIONS[found[2]](float(found[1]), float(found[3]))
        return "undefined" if result is None else f"{result:g}"
    for country, capital in CAPITALS.items():
        if f"capital of {country}" in question:
            return capital
    quoted = re.search(r'"([^"]*)"', text)
    if quoted and "backwards" in question:
        return quoted[1][::-1]
    if quoted and "how many letters" in question:
        return str(len(quoted[1]))
    return "I do not know"
'''

SUITE = """\
# Twelve questions. The starter agent answers most of them; `dyno show last` tells which ones it does not.
suite_name: First steps
category: accuracy
description: Small sums and a few questions, each with one right answer
version: "1"

epochs: 3        # every case is asked three times
concurrency: 1   # cases in flight at once

benchmarks:
  - name: arithmetic
    description: Sums with two numbers, and one with three
    metrics_measured: [accuracy, speed, efficiency, cost, reliability]
    scorer: exact
    dataset:
      complexity: low
      cases:
        - {id: sum, input: "What is 17 + 25?", target: "42"}
        - {id: difference, input: "What is 100 - 58?", target: "42"}
        - {id: product, input: "What is 17 * 23?", target: "391"}
        - {id: quotient, input: "What is 84 / 7?", target: "12"}
        - {id: by-zero, input: "What is 1 / 0?", target: undefined, metadata: {kind: edge}}
        - {id: three-numbers, input: "What is 2 + 3 * 4?", target: "14", metadata: {kind: hard}}

  - name: questions
    description: Facts and small tasks with words
    scoring_rubric:
      scorer: {name: exact, ignore_case: true}
      # The median time that scores 1, and the one that scores 0.
      targets: {duration_s: 0.5}
      limits: {duration_s: 20}
    constraints: {time_limit_ms: 30000}
    dataset:
      cases:
        - {id: france, input: "What is the capital of France? Answer with one word.", target: Paris}
        - {id: japan, input: "What is the capital of Japan? Answer with one word.", target: Tokyo}
        - {id: chile, input: "What is the capital of Chile? Answer with one word.", target: Santiago}
        - {id: backwards, input: 'Write "stressed" backwards.', target: desserts}
        - {id: letters, input: 'How many letters has "dynamometer"? Answer with the number.', target: "11"}
        - id: word-problem
          input: Ada has three apples and buys twice as many again. How many has she? Answer with the number.
          target: "9"
          metadata: {kind: hard}

# Changes that `dyno run --quick` makes.
quick:
  limit: 4
  epochs: 1
"""
