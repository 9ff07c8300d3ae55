"""``dyno demo``."""

from __future__ import annotations

import click

from agentdyno.cli.shared import say, store_option

NEXT = """\
What to type next:
  dyno list                                   what there is to measure
  dyno show last                              the last run in full
  dyno run retrieval -p documents=500 --against index=scan
  dyno doctor                                 how far to trust this machine
  docs/getting-started/first-experiment.md    measure code of your own"""


@click.command()
@store_option
def command(store: str | None) -> int:
    """Run a sweep and a comparison on a bundled workload, and write an HTML report of each."""
    from agentdyno.cli.run_command import run

    say("1. A sweep: document lookup, two indexes, four corpus sizes.\n")
    code = run("workload:retrieval/sweep", {"store": store, "formats": "html"})
    if code:
        return code
    say("\n2. A comparison: the inverted index against the scan, interleaved in one run.\n")
    options = {"store": store, "formats": "html", "against": "index=scan", "params": ("documents=300",)}
    code = run("workload:retrieval/lookup", options)
    say(f"\n{NEXT}")
    return code
