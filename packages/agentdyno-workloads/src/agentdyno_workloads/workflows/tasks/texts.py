"""Texts and copies: an index of words, and a backup that is verified."""

from __future__ import annotations

import hashlib
import io
import random
import re
import tarfile
from pathlib import Path

from agentdyno import FinalState
from agentdyno_workloads.workflows.task import BASIC, INTERMEDIATE, TaskStep, WorkflowTask

_HERE = __name__
_WORDS = [
    "river",
    "stone",
    "copper",
    "lantern",
    "harbour",
    "winter",
    "engine",
    "orchard",
    "signal",
    "paper",
    "bridge",
    "garden",
    "compass",
    "ladder",
    "mirror",
    "anchor",
    "thunder",
    "velvet",
    "window",
    "basket",
    "candle",
    "feather",
    "marble",
    "needle",
]


def _texts(seed: int) -> dict[str, str]:
    rng = random.Random(seed)
    return {
        f"notes/{number:02}.txt": ". ".join(
            " ".join(rng.choices(_WORDS, k=rng.randrange(4, 12))).capitalize() for _ in range(rng.randrange(2, 5))
        )
        + ".\n"
        for number in range(1, 16)
    }


def make_text_index(folder: Path, seed: int) -> None:
    for path, text in _texts(seed).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)


def check_text_index(state: FinalState, seed: int) -> None:
    index: dict[str, set[str]] = {}
    for path, text in _texts(seed).items():
        for word in re.findall(r"[a-z]+", text.lower()):
            index.setdefault(word, set()).add(Path(path).name)
    wanted = [f"{word}: {' '.join(sorted(names))}" for word, names in sorted(index.items())]
    state.expect(state.lines("index.txt") == wanted, "index.txt is not the index of the notes")


def _files(seed: int) -> dict[str, bytes]:
    rng = random.Random(seed + 5)
    return {
        f"documents/{name}/{number}.bin": rng.randbytes(rng.randrange(100, 4000))
        for name in "abc"
        for number in range(6)
    }


def make_backup_verify(folder: Path, seed: int) -> None:
    for path, content in _files(seed).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def check_backup_verify(state: FinalState, seed: int) -> None:
    files = _files(seed)
    wanted = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    listed = {}
    for line in state.lines("SHA256SUMS"):
        checksum, _, path = line.partition(" ")
        listed[path.strip().removeprefix("*").removeprefix("./")] = checksum
    state.expect(listed == wanted, "SHA256SUMS does not list every document with its checksum")
    try:
        with tarfile.open(fileobj=io.BytesIO(state.data("backup.tar.gz"))) as archive:
            packed = {
                item.name.removeprefix("./"): archive.extractfile(item).read()  # type: ignore[union-attr]
                for item in archive.getmembers()
                if item.isfile()
            }
    except (tarfile.TarError, OSError, EOFError):
        packed = {}
    state.expect(packed == files, "backup.tar.gz does not hold exactly the documents")
    for path, content in files.items():
        state.expect(state.data(f"restored/{path}") == content, f"restored/{path} is not the same as {path}")


TASKS = (
    WorkflowTask(
        "text-index",
        BASIC,
        "The folder notes has text files. Write index.txt: one line for each word that occurs in "
        "them (runs of letters, "
        "in lower case), in alphabetical order, as `WORD: FILE FILE ...` with the names of the files (without the "
        "folder, in alphabetical order) in which it occurs.",
        _HERE,
        (
            TaskStep(
                "pairs",
                "for file in notes/*.txt; do tr 'A-Z' 'a-z' < \"$file\" | grep -oE '[a-z]+' | sort -u"
                ' | sed "s|$| $(basename "$file")|"; done > pairs.txt',
                (),
                ("pairs.txt",),
            ),
            TaskStep(
                "index",
                'sort pairs.txt | awk \'$1 != word {if (word != "") print line; word = $1; line = word ":"}'
                ' {line = line " " $2} END {print line}\' > index.txt',
                ("pairs",),
                ("index.txt",),
            ),
        ),
    ),
    WorkflowTask(
        "backup-verify",
        INTERMEDIATE,
        "Back up the folder documents: write SHA256SUMS with the SHA-256 of every file below it (in the form of "
        "sha256sum, paths beginning with documents/), pack the folder into backup.tar.gz, unpack "
        "that into the folder "
        "restored (so that restored/documents exists), and verify the restored files against SHA256SUMS.",
        _HERE,
        (
            TaskStep(
                "sums",
                "find documents -type f | LC_ALL=C sort | xargs sha256sum > SHA256SUMS",
                (),
                ("SHA256SUMS",),
            ),
            TaskStep(
                "pack",
                "tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - documents | "
                "gzip -n > backup.tar.gz",
                (),
                ("backup.tar.gz",),
            ),
            TaskStep(
                "restore",
                "mkdir -p restored && tar -C restored -xzf backup.tar.gz",
                ("pack",),
                ("restored/documents",),
            ),
            TaskStep(
                "verify",
                "cd restored && sha256sum --quiet -c ../SHA256SUMS && echo verified > ../verified.txt",
                ("sums", "restore"),
                ("verified.txt",),
            ),
        ),
    ),
)
