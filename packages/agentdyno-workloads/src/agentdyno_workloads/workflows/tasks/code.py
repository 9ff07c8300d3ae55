"""Code: a small C project that is built, tested and packed, and the history of a repository."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from pathlib import Path

from agentdyno import FinalState
from agentdyno_workloads.workflows.task import ADVANCED, INTERMEDIATE, TaskStep, WorkflowTask

_HERE = __name__


def _factor(seed: int) -> int:
    return random.Random(seed).randrange(3, 99)


def make_c_build(folder: Path, seed: int) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "scale.h").write_text("int scale(int value);\n")
    (folder / "src" / "scale.c").write_text(
        f'#include "scale.h"\nint scale(int value) {{ return value * {_factor(seed)}; }}\n'
    )
    (folder / "src" / "main.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\n#include "scale.h"\n'
        'int main(int count, char **given) { printf("%d\\n", scale(count > 1 ? atoi(given[1]) : 0)); return 0; }\n'
    )
    (folder / "src" / "test.c").write_text(
        f'#include "scale.h"\nint main(void) {{ return scale(2) == {2 * _factor(seed)} ? 0 : 1; }}\n'
    )


def check_c_build(state: FinalState, seed: int) -> None:
    state.expect(state.lines("test-result.txt") == ["passed"], "test-result.txt does not say `passed`")
    state.expect(state.has("dist/scale.tar.gz"), "dist/scale.tar.gz is missing")
    ran = state.run("mkdir unpacked && tar -C unpacked -xzf dist/scale.tar.gz && unpacked/scale/bin/scale 7")
    wanted = str(7 * _factor(seed))
    state.expect(
        ran.status == 0 and ran.output.strip() == wanted, f"scale 7 of the package gives {ran.output[:80]!r}"
    )


_AUTHORS = ("Ada", "Barbara", "Grace", "Katherine")


def _history(seed: int) -> tuple[list[tuple[str, str, str]], int]:
    """Author, file and line of each commit, and which one brings the setting in question."""
    rng = random.Random(seed)
    commits = [
        (
            rng.choices(_AUTHORS, (5, 3, 2, 1))[0],
            f"module{rng.randrange(4)}.py",
            f"value_{number} = {rng.randrange(999)}",
        )
        for number in range(30)
    ]
    at = rng.randrange(10, 25)
    commits[at] = (commits[at][0], "settings.py", "retry_limit = 99")
    return commits, at


def make_git_history(folder: Path, seed: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        env = {
            **{"PATH": os.environ.get("PATH", ""), "HOME": name, "GIT_CONFIG_GLOBAL": "/dev/null"},
            **{"GIT_CONFIG_NOSYSTEM": "1", "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@example.org"},
        }

        def git(*arguments: str, **more: str) -> None:
            subprocess.run(["git", *arguments], cwd=name, env={**env, **more}, check=True, capture_output=True)

        git("init", "-q", "-b", "main")
        for number, (author, path, line) in enumerate(_history(seed)[0]):
            with Path(name, path).open("a") as file:
                file.write(line + "\n")
            date = (
                f"2025-01-{number % 28 + 1:02}T{number:02}:00:00 +0000"
                if number < 24
                else "2025-02-01T00:00:00 +0000"
            )
            git("add", path)
            git(
                *("commit", "-q", "-m", f"Change {number}", "--author", f"{author} <{author.lower()}@example.org>"),
                GIT_AUTHOR_DATE=date,
                GIT_COMMITTER_DATE=date,
            )
        git("-c", "pack.threads=1", "bundle", "create", "-q", str(folder.resolve() / "history.bundle"), "main")


def check_git_history(state: FinalState, seed: int) -> None:
    commits, at = _history(seed)
    counts = {name: sum(author == name for author, _, _ in commits) for name in _AUTHORS}
    found = state.json("answer.json")
    state.expect(isinstance(found, dict), "answer.json is no object")
    assert isinstance(found, dict)
    best = {name for name in counts if counts[name] == max(counts.values())}
    state.expect(found.get("author") in best, f"author is {found.get('author')!r}, and should be {sorted(best)}")
    state.expect(found.get("subject") == f"Change {at}", f"subject is {found.get('subject')!r}, not 'Change {at}'")


TASKS = (
    WorkflowTask(
        "c-build",
        INTERMEDIATE,
        "The folder src holds a small program in C: scale.c and scale.h, main.c, and test.c. Compile "
        "scale.c and main.c "
        "to the program bin/scale with gcc. Compile scale.c and test.c, run the test, and write `passed` to "
        "test-result.txt if it ends with status 0. Then pack the program into dist/scale.tar.gz, in "
        "which it must lie "
        "as scale/bin/scale.",
        _HERE,
        (
            TaskStep("compile", "mkdir -p bin && gcc -O1 -o bin/scale src/scale.c src/main.c", (), ("bin/scale",)),
            TaskStep(
                "test",
                "gcc -o /tmp/test src/scale.c src/test.c && /tmp/test && echo passed > test-result.txt",
                (),
                ("test-result.txt",),
            ),
            TaskStep(
                "package",
                "mkdir -p /tmp/p/scale/bin dist && cp bin/scale /tmp/p/scale/bin/ && tar -C /tmp/p "
                "--sort=name --mtime=@0"
                " --owner=0 --group=0 -cf - scale | gzip -n > dist/scale.tar.gz",
                ("compile", "test"),
                ("dist/scale.tar.gz",),
            ),
        ),
    ),
    WorkflowTask(
        "git-history",
        ADVANCED,
        "history.bundle is a git bundle with the branch main. Find the author (name) with the most commits, and the "
        "commit that first brought a line with `retry_limit` into any file. Write answer.json with the keys author, "
        "and subject: the subject line of that commit.",
        _HERE,
        (
            TaskStep("clone", "rm -rf repo && git clone -q -b main history.bundle repo", (), ("repo",)),
            TaskStep(
                "author",
                "git -C repo log --format=%an | sort | uniq -c | sort -rn | awk 'NR == 1 {print $2}' > author.txt",
                ("clone",),
                ("author.txt",),
            ),
            TaskStep(
                "subject",
                "git -C repo log --reverse -S retry_limit --format=%s | head -n 1 > subject.txt",
                ("clone",),
                ("subject.txt",),
            ),
            TaskStep(
                "answer",
                'printf \'{"author": "%s", "subject": "%s"}\\n\' "$(cat author.txt)" "$(cat '
                'subject.txt)" > answer.json',
                ("author", "subject"),
                ("answer.json",),
            ),
        ),
    ),
)
