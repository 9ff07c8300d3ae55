"""``dyno judge``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, say, store_option, workspace_here
from agentdyno.settings.judging import SHEET_SIZE
from agentdyno.settings.run import SEED

_FILE = click.Path(path_type=Path, dir_okay=False)
run_option = click.option(
    "--run", "run", default="last", show_default=True, help="The run whose answers were judged."
)


@click.group(name="judge")
def command() -> None:
    """Models that judge, held against people."""


@command.command(
    epilog="\b\nExamples:\n"
    "  dyno judge sheet last --size 100            answers to label, as labels.csv\n"
    "  dyno judge calibrate labels.csv             the last run's judge against the labels\n"
    "  dyno judge calibrate                        against the marks made in the dashboard\n"
    "  dyno judge calibrate labels.csv --output calibration.json    for a gate elsewhere"
)
@click.argument("labels", required=False, type=click.Path(path_type=Path, dir_okay=False, exists=True))
@run_option
@click.option("--output", type=_FILE, help="Also write the calibrations to a file that `gate: calibrations` names.")
@store_option
@json_option
def calibrate(labels: Path | None, run: str, output: Path | None, store: str | None, as_json: bool) -> int:
    """How far a judge agrees with people, what biases it, and the pass rate behind its grades.

    LABELS has columns case and label (right or wrong), and where needed benchmark, agent, epoch, who. Without it the
    marks of the store are taken. A file with a column grade needs no run: the grades in it are judged.
    """
    from agentdyno.findings.calibration.ask import calibrate_run, keep_calibrations
    from agentdyno.findings.calibration.ask_labels import graded_in_file, labels_of_marks, read_labels
    from agentdyno.findings.calibration.judge import calibrate_judge, why_not_trusted
    from agentdyno.findings.calibration.model import JudgeIdentity
    from agentdyno.findings.calibration.tables import calibration_tables
    from agentdyno.model.codec import encode
    from agentdyno.runs.place import now_ms

    given = () if labels is None else read_labels(labels)
    if labels is not None and any(label.grade is not None for label in given):
        found = [calibrate_judge(graded_in_file(given), JudgeIdentity("", labels.name), now_ms())]
        kept = "The grades are of the file, so the calibration is of no judge and was not kept."
    else:
        with open_store(store, must_exist=True) as opened:
            run_id = opened.runs.find(run)
            marked = labels_of_marks(opened.judging.marks(run_id))
            found = calibrate_run(opened, run_id, [*marked, *given], now_ms())
            keep_calibrations(opened, found)
        kept = "Kept: it holds until judge, prompt or rubric change."
        floor = workspace_here().gate.judge_floor
        if reasons := sorted({reason for item in found if (reason := why_not_trusted(item, floor))}):
            kept += f" A gate does not block on it: {'; '.join(reasons)}."
    if output is not None:
        output.write_text(encode(found, indent=2) + "\n", encoding="utf-8")
    if as_json:
        print_json(found)
        return 0
    for item in found:
        print_tables(calibration_tables(item))
    say(kept)
    return 0


@command.command(epilog="\b\nExamples:\n  dyno judge sheet last --size 200 --output labels.csv")
@click.argument("run", default="last")
@click.option("--size", type=click.IntRange(min=1), default=SHEET_SIZE, show_default=True, help="How many answers.")
@click.option("--seed", type=int, default=SEED.default, show_default=True, help="Which answers are drawn.")
@click.option("--output", type=_FILE, default=Path("labels.csv"), show_default=True, help="The file.")
@store_option
def sheet(run: str, size: int, seed: int, output: Path, store: str | None) -> int:
    """Write answers of RUN, drawn at random, for people to label right or wrong. The judge's grade is not shown."""
    from agentdyno.findings.calibration.ask_sheet import write_sheet

    _refuse_existing(output)
    with open_store(store, must_exist=True) as opened:
        count = write_sheet(opened, opened.runs.find(run), output, size, seed)
    say(f"Wrote {count:,} answer{'s' * (count != 1)} to {output}. Fill the column label: right or wrong.")
    say(f"Then: dyno judge calibrate {output} --run {run}")
    return 0


@command.command(epilog="\b\nExamples:\n  dyno judge marks last --output marks.csv")
@click.argument("run", required=False)
@click.option("--output", type=_FILE, help="Write them as CSV, which `dyno judge calibrate` reads.")
@store_option
@json_option
def marks(run: str | None, output: Path | None, store: str | None, as_json: bool) -> int:
    """What people marked right or wrong, with who, when and why; of RUN, or of all runs."""
    from agentdyno.findings.calibration.ask_sheet import write_marks
    from agentdyno.findings.calibration.tables import marks_table

    if output is not None:
        _refuse_existing(output)
    with open_store(store, must_exist=True) as opened:
        found = opened.judging.marks(None if run is None else opened.runs.find(run))
    if output is not None:
        say(f"Wrote {write_marks(found, output):,} marks to {output}")
    elif as_json:
        print_json(found)
    else:
        print_tables(marks_table(found))
    return 0


@command.command()
@store_option
@json_option
def show(store: str | None, as_json: bool) -> int:
    """The calibrations that are kept, newest first."""
    from agentdyno.findings.calibration.ask import known_calibrations
    from agentdyno.findings.calibration.tables import calibrations_table

    with open_store(store, must_exist=True) as opened:
        found = list(known_calibrations(opened).values())
    if as_json:
        print_json(found)
    else:
        print_tables(calibrations_table(found))
    return 0


def _refuse_existing(file: Path) -> None:
    if file.exists():
        raise click.UsageError(f"{file} is there already; name another with --output")
