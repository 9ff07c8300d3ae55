"""``dyno compare``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.shared import (
    NOT_COMPARABLE,
    gate_options,
    json_option,
    open_store,
    print_json,
    print_tables,
    say,
    store_option,
    store_url,
    tolerance_option,
)


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno compare A.json B.json\n"
    "  dyno compare last~1 last --gate\n"
    '  dyno compare last:"retrieval index=scan documents=100" last:"retrieval index=inverted documents=100"\n'
    "  dyno compare last            the two sides of a run made with --against"
)
@click.argument("operands", nargs=-1, required=True, metavar="BASELINE CANDIDATE")
@click.option("--format", "formats", metavar="LIST", help="Reports to write: md,html,csv,json,png,junit.")
@click.option("--output-dir", default=".", show_default=True, help="Where reports go.")
@tolerance_option
@gate_options
@store_option
@json_option
def command(
    operands: tuple[str, ...],
    formats: str | None,
    output_dir: str,
    tolerance: float,
    gate: bool,
    strict: bool,
    store: str | None,
    as_json: bool,
) -> int:
    """Set BASELINE and CANDIDATE side by side: result files, runs of the store, or RUN:ARM. Read-only."""
    from agentdyno.cli.outcome import gate_code, shown
    from agentdyno.contracts import Report
    from agentdyno.model import Findings
    from agentdyno.workbench.api import store_exists
    from agentdyno.workbench.judge import compare_operands, findings_for
    from agentdyno.workbench.operands import Results
    from agentdyno.workbench.reporting import check_formats, write_reports

    if len(operands) > 2:
        raise click.UsageError("compare takes two operands: BASELINE CANDIDATE")
    names = check_formats(formats)
    exists = store_exists(store_url(store))
    opened = open_store(store) if exists else None
    try:
        results = Results(lambda: opened or open_store(store, must_exist=True))
        if len(operands) == 1:
            result = results.run(operands[0])
            findings = findings_for(result, opened, tolerance)
            if not findings.comparisons:
                raise click.UsageError(f"{operands[0]} has one side only; name a second result to compare it with")
            report = Report((result,), findings)
        else:
            first, second = (results.operand(item) for item in operands)
            comparison = compare_operands(first, second, opened, tolerance)
            report = Report((), Findings(comparison.warnings, (comparison,)))
    finally:
        if opened is not None:
            opened.close()
    comparison = report.findings.comparisons[0]
    if as_json:
        print_json(comparison)
    else:
        print_tables(Report((), report.findings))
    for path in write_reports(report, names, Path(output_dir)):
        say(f"Wrote {shown(path)}")
    code = gate_code(comparison, strict=strict)
    return code if gate or code == NOT_COMPARABLE else 0
