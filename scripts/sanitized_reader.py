"""The compiled reader under the address and undefined-behaviour sanitizers: tests, or damaged answers without end.

scripts/sanitized_reader.py [--inputs N] [--seed S]     damaged answers, compared with the exact decoder (100,000)
scripts/sanitized_reader.py --tests                     tests of the decoder, less those that cut at every byte

Needs gcc with its sanitizers. Run with the interpreter that agentdyno is installed for.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
READY = "DYNO_SANITIZED_READER"
FLAGS = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
TESTS = ("tests/load/client/test_stream_decode.py", "tests/load/client/test_stream_reader.py")
NESTED = b"[" * 80
WRONG = (
    b"\x00",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\r",
    b"\xf0\x9d",
    b"\\u",
    b"\\ud8",
    b"1e",
    NESTED,
)


def damaged(raw: bytes, draw: random.Random) -> bytes:
    """The answer with some bytes changed, lost, doubled or cut off; most heads stay as they are."""
    data = bytearray(raw)
    head = raw.find(b"\r\n\r\n") + 4 if draw.random() < 0.8 else 0
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        if len(data) <= head:
            break
        at = draw.randrange(head, len(data))
        change = draw.randrange(6)
        if change == 0:
            data[at] = draw.randrange(256)
        elif change == 1:
            del data[at : at + draw.choice((1, 1, 2, 9, 60))]
        elif change == 2:
            data[at:at] = draw.choice(WRONG)
        elif change == 3:
            del data[at:]
        elif change == 4:
            end = at + draw.randrange(80)
            data[at:at] = data[at:end]
        else:
            data[at : at + 1] = draw.choice(WRONG)
    return bytes(data)


def compare(inputs: int, seed: int) -> str:
    """Decodes so many damaged answers with both decoders. A difference where the compiled reader was certain raises
    ``AssertionError``; where it was not, the decoder in Python is counted."""
    from tests.load.client.test_stream_decode import plain, split
    from tests.load.server_streams import SERVERS, ServerStream

    from agentdyno.load.client.decode import ExactDecoder
    from agentdyno.load.client.hot import ExchangeEnding
    from agentdyno.load.client.stream_decode import StreamDecoder

    draw = random.Random(seed)
    taken = others = 0
    streams = [make() for make in SERVERS.values()]
    decoders = [(StreamDecoder(stream.answers), ExactDecoder(stream.answers)) for stream in streams]
    for _ in range(inputs):
        place = draw.randrange(len(streams))
        stream, (fast, exact) = streams[place], decoders[place]
        raw = stream.raw
        if draw.random() < 0.5:  # so that what is damaged is not the chunks nearly every time
            body = damaged(b"\r\n\r\n" + b"".join(stream.pieces), draw).removeprefix(b"\r\n\r\n")
            raw = ServerStream(stream.answers, (body,) if body else (), stream.head).raw
        else:
            raw = damaged(raw, draw)
        raw = raw or b"HTTP"
        reads = split(raw, *sorted({draw.randrange(1, len(raw) + 1) for _ in range(draw.randrange(4))}))
        before = fast.not_compiled
        found, expected = (one.decode(reads, ExchangeEnding.COMPLETE, 900) for one in (fast, exact))
        equal = plain(found) == plain(expected)
        if fast.not_compiled == before:
            taken += 1
            assert equal, (reads, found, expected)
        elif not equal:
            others += 1
            print("the decoder in Python differs:", (reads, found, expected) if others == 1 else "", flush=True)
    told = f"{inputs:,} damaged answers, seed {seed}: {taken:,} were taken by the compiled reader, all as the exact"
    return f"{told} decoder; of those left to Python {others:,} differ"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    folder = os.environ.get(READY)
    if folder is None:
        from hatch_build import compile_reader

        with tempfile.TemporaryDirectory() as made:
            compile_reader(ROOT, Path(made), FLAGS)
            libraries = [
                subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
                for name in ("libasan.so", "libubsan.so")
            ]
            # Python itself never gives everything back.
            environ = {
                "LD_PRELOAD": " ".join(map(str.strip, libraries)),
                "ASAN_OPTIONS": "detect_leaks=0",
                READY: made,
            }
            # Its own small blocks would hide reads beyond them from the sanitizer.
            environ |= os.environ | environ | {"PYTHONMALLOC": "malloc"}
            return subprocess.run([sys.executable, *sys.argv], env=environ, check=False).returncode
    import agentdyno.load.client

    agentdyno.load.client.__path__.insert(0, folder)  # found before the one that was installed
    reader = importlib.import_module("agentdyno.load.client._stream_reader")
    print("reader:", reader.__file__, flush=True)
    if given.tests:
        import pytest

        slow = "not wherever_it_is_cut and not cut_off_at_any_byte and not framing"
        options = [
            "-k",
            slow,
            "-p",
            "no:xdist",
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore::pytest.PytestAssertRewriteWarning",
        ]
        return pytest.main(["-q", *options, *TESTS])
    print(compare(given.inputs, given.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
