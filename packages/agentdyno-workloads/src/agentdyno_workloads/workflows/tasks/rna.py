"""RNA-seq quantification on synthetic reads of known abundance, with Kallisto, Salmon or a stand-in."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

from agentdyno import FinalState
from agentdyno_workloads.workflows.task import ADVANCED, TaskStep, WorkflowTask

_HERE = __name__
_READS, _READ_LENGTH, _FRAGMENT = 5000, 75, 180
_LEAST_CORRELATION = 0.9
_OTHER = str.maketrans("ACGT", "TGCA")
STAND_IN = Path(__file__).parents[1] / "kmer_quant.py"


def _transcripts(seed: int) -> dict[str, str]:
    rng = random.Random(seed)
    return {f"tx{number:02}": "".join(rng.choices("ACGT", k=rng.randrange(500, 1200))) for number in range(24)}


def _reads(seed: int, sample: int) -> tuple[list[str], dict[str, int]]:
    """Reads of one sample, and how many come from each transcript. The second sample has four that are changed."""
    transcripts = _transcripts(seed)
    rng = random.Random(seed + 1)
    weights = {name: math.exp(rng.gauss(0, 1.2)) * len(text) for name, text in transcripts.items()}
    if sample == 2:
        for name in changed(seed):
            weights[name] *= 8
    rng = random.Random(seed + 10 + sample)
    names = list(transcripts)
    counts = dict.fromkeys(names, 0)
    reads = []
    for name in rng.choices(names, [weights[name] for name in names], k=_READS):
        counts[name] += 1
        text = transcripts[name]
        at = rng.randrange(len(text) - _FRAGMENT + 1)
        fragment = text[at : at + _FRAGMENT]
        read = list((fragment if rng.random() < 0.5 else fragment[::-1].translate(_OTHER))[:_READ_LENGTH])
        if rng.random() < 0.15:
            read[rng.randrange(_READ_LENGTH)] = rng.choice("ACGT")
        reads.append("".join(read))
    return reads, counts


def changed(seed: int) -> list[str]:
    """The transcripts that the second sample has more of: rare ones, so that their share is seen to change."""
    return sorted(random.Random(seed + 2).sample(sorted(_transcripts(seed)), 3))


def _write(folder: Path, seed: int, samples: Sequence[tuple[int, str]]) -> None:
    fasta = "".join(f">{name}\n{text}\n" for name, text in _transcripts(seed).items())
    (folder / "transcripts.fa").write_text(fasta)
    for sample, file in samples:
        reads, _ = _reads(seed, sample)
        quality = "I" * _READ_LENGTH
        (folder / file).write_text("".join(f"@r{n}\n{read}\n+\n{quality}\n" for n, read in enumerate(reads)))
    (folder / "kmer_quant.py").write_bytes(STAND_IN.read_bytes())


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    ones, others = [math.log(value + 1) for value in first], [math.log(value + 1) for value in second]
    a, b = sum(ones) / len(ones), sum(others) / len(others)
    top = sum((x - a) * (y - b) for x, y in zip(ones, others, strict=True))
    bottom = math.sqrt(sum((x - a) ** 2 for x in ones) * sum((y - b) ** 2 for y in others))
    return top / bottom if bottom else 0.0


def _estimates(state: FinalState, path: str) -> dict[str, float]:
    lines = [line.split("\t") for line in state.lines(path)]
    head = [name.lower() for name in lines[0]] if lines else []
    count = next((head.index(name) for name in ("est_counts", "numreads") if name in head), None)
    state.expect(count is not None, f"{path} has no column est_counts")
    assert count is not None
    try:
        return {row[0]: float(row[count]) for row in lines[1:]}
    except (ValueError, IndexError):
        state.expect(False, f"{path} has rows that are no estimates")
        return {}


def _check_sample(state: FinalState, path: str, seed: int, sample: int) -> None:
    _, truth = _reads(seed, sample)
    found = _estimates(state, path)
    state.expect(found.keys() == truth.keys(), f"{path} does not have every transcript once")
    names = sorted(truth)
    correlation = _correlation([found[name] for name in names], [float(truth[name]) for name in names])
    state.expect(
        correlation >= _LEAST_CORRELATION, f"{path}: correlation {correlation:.3f} with the truth is below 0.9"
    )


def make_rnaseq_kallisto(folder: Path, seed: int) -> None:
    _write(folder, seed, ((1, "reads.fastq"),))


def check_rnaseq_kallisto(state: FinalState, seed: int) -> None:
    _check_sample(state, "quant/abundance.tsv", seed, 1)


def make_rnaseq_two_samples(folder: Path, seed: int) -> None:
    _write(folder, seed + 50, ((1, "control.fastq"), (2, "treated.fastq")))


def check_rnaseq_two_samples(state: FinalState, seed: int) -> None:
    _check_sample(state, "control.tsv", seed + 50, 1)
    _check_sample(state, "treated.tsv", seed + 50, 2)
    _, before = _reads(seed + 50, 1)
    _, after = _reads(seed + 50, 2)
    found = set(state.lines("changed.txt"))
    wanted = {name for name in before if (after[name] + 1) / (before[name] + 1) >= 3}
    state.expect(found == wanted, f"changed.txt holds {sorted(found)}, and should hold {sorted(wanted)}")


_INDEX = (
    "if command -v kallisto > /dev/null; then kallisto index -k 21 -i transcripts.idx transcripts.fa;"
    " else cp transcripts.fa transcripts.idx; fi"
)
_QUANT = (
    "if command -v kallisto > /dev/null; then kallisto quant -i transcripts.idx -o {folder} "
    "--plaintext --single -l 180"
    " -s 20 {reads}; else mkdir -p {folder} && python3 kmer_quant.py transcripts.fa {reads} "
    "{folder}/abundance.tsv; fi"
)
_CHANGED = (
    "paste control.tsv treated.tsv | awk -F'\\t' 'NR > 1 && ($9 + 1) / ($4 + 1) >= 3 {print $1}' | sort > changed.txt"
)

TASKS = (
    WorkflowTask(
        "rnaseq-kallisto",
        ADVANCED,
        "Please analyze my RNA-seq data with Kallisto for transcript quantification. The transcripts are in "
        "transcripts.fa, the single-end reads (75 bases, fragments of 180 with a deviation of 20) in "
        "reads.fastq. The "
        "result must be quant/abundance.tsv as Kallisto writes it. Where Kallisto is not installed, `python3 "
        "kmer_quant.py transcripts.fa reads.fastq quant/abundance.tsv` writes a file of the same form.",
        _HERE,
        (
            TaskStep("index", _INDEX, (), ("transcripts.idx",)),
            TaskStep(
                "quant", _QUANT.format(folder="quant", reads="reads.fastq"), ("index",), ("quant/abundance.tsv",)
            ),
        ),
    ),
    WorkflowTask(
        "rnaseq-two-samples",
        ADVANCED,
        "control.fastq and treated.fastq are single-end RNA-seq reads (75 bases, fragments of 180 "
        "with a deviation of "
        "20), transcripts.fa are the transcripts. Quantify both samples with Kallisto or Salmon and "
        "write control.tsv "
        "and treated.tsv in the form of Kallisto's abundance.tsv (with the column est_counts). Then "
        "write changed.txt: "
        "the names of transcripts, one a line, for which (treated + 1) / (control + 1) of est_counts is at least 3. "
        "Where neither tool is installed, `python3 kmer_quant.py transcripts.fa READS OUTPUT` does the same.",
        _HERE,
        (
            TaskStep("index", _INDEX, (), ("transcripts.idx",)),
            TaskStep(
                "control",
                _QUANT.format(folder="q1", reads="control.fastq") + " && cp q1/abundance.tsv control.tsv",
                ("index",),
                ("control.tsv",),
            ),
            TaskStep(
                "treated",
                _QUANT.format(folder="q2", reads="treated.fastq") + " && cp q2/abundance.tsv treated.tsv",
                ("index",),
                ("treated.tsv",),
            ),
            TaskStep("changed", _CHANGED, ("control", "treated"), ("changed.txt",)),
        ),
    ),
)
