"""Runs an answer's code and the tests of it, in a process of its own. Standard library only.

Reads the file ``job``, and writes one line of JSON per finished step to the file ``report``. Each line carries a word
that the tested code is not told, so that ending the process early does not look like success.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from contextlib import suppress

_FILE_BYTES = 16 * 1024 * 1024


def main() -> None:
    with open("job", encoding="utf-8", errors="surrogatepass") as file:  # noqa: PTH123
        job = json.load(file)
    os.unlink("job")  # noqa: PTH108
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError):  # where the limit is lower already
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    report = os.open("report", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    namespace: dict[str, object] = {"__name__": "answer"}
    steps = [["answer", job["code"]], *[[f"test {index}", step] for index, step in enumerate(job["steps"], 1)]]
    for index, (name, source) in enumerate(steps):
        error = _attempt(name, source, namespace)
        line = json.dumps({"word": job["word"], "step": index - 1, "error": error})
        os.write(report, line.encode() + b"\n")
        if error and index == 0:
            break
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)  # whatever threads the code has left running


def _attempt(name: str, source: str, namespace: dict[str, object]) -> str | None:
    """Executes a step; what it raised, on one line."""
    try:
        exec(compile(source, f"<{name}>", "exec"), namespace)
    except BaseException as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}".rstrip(": ")[:500]
    return None


if __name__ == "__main__":
    main()
