"""A stand-in for Kallisto where that cannot be had: reads are counted for the transcript that shares most 21-mers.

Usage: python3 kmer_quant.py TRANSCRIPTS.fa READS.fastq OUTPUT.tsv. Copied into working folders, so it imports nothing
but the standard library.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

K = 21
OTHER = str.maketrans("ACGT", "TGCA")


def transcripts(path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in Path(path).read_text().split(">")[1:]:
        head, _, body = part.partition("\n")
        found[head.split()[0]] = body.replace("\n", "")
    return found


def main(fasta: str, fastq: str, output: str) -> None:
    known = transcripts(fasta)
    where: dict[str, str] = {}
    for name, text in known.items():
        for strand in (text, text[::-1].translate(OTHER)):
            for at in range(len(strand) - K + 1):
                where[strand[at : at + K]] = name
    counts = dict.fromkeys(known, 0)
    for read in Path(fastq).read_text().splitlines()[1::4]:
        hits = Counter(where[mer] for at in range(len(read) - K + 1) if (mer := read[at : at + K]) in where)
        if hits:
            counts[hits.most_common(1)[0][0]] += 1
    rates = {name: counts[name] / len(text) for name, text in known.items()}
    total = sum(rates.values()) or 1.0
    rows = [
        f"{name}\t{len(text)}\t{len(text)}\t{counts[name]}\t{rates[name] / total * 1e6:.6g}"
        for name, text in known.items()
    ]
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    Path(output).write_text("\n".join(["target_id\tlength\teff_length\test_counts\ttpm", *rows]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
