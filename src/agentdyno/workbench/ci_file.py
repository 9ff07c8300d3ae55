"""A workflow for GitHub Actions that runs ``dyno check`` on pull requests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.reports.gate_comment import MARKER

CI_FILE = ".github/workflows/dyno.yml"
SOURCE = "agentdyno[prices]"
"""Where agentdyno comes from unless somebody says; without the prices of models nobody knows what a check costs."""
_REPORT = "dyno-report"
_REQUIREMENT = re.compile(r"agentdyno(\[[a-z,]+\])?([=<>~!]=?[\w.*]+(,[=<>~!]=?[\w.*]+)*)?")
_EXTRAS = re.compile(r"\[[a-z]+(,[a-z]+)*\]")
_GIT = re.compile(r"(agentdyno(\[[a-z,]+\])? @ )?git\+(https|ssh)://[\w.@:/+~#=&-]+")
_PLAIN = re.compile(r"[\w./ @*=:,+%-]+")

_TEMPLATE = """\
# Sets every pull request against the branch that it goes to, and says so in a comment.
name: dyno

on:
  pull_request:

permissions:
  contents: read
  pull-requests: write

concurrency:
  group: dyno-${{ github.ref }}
  cancel-in-progress: true

jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0  # the baseline is measured from the history

      - uses: actions/setup-python@v5
        with:
          python-version: "@PYTHON@"

      - name: Install
        run: @INSTALL@

      - name: Keep the environments of the baselines
        uses: actions/cache@v4
        with:
          path: .dyno/envs
          key: dyno-envs-${{ runner.os }}-@PYTHON@-${{ hashFiles(@HASHED@) }}
          restore-keys: dyno-envs-${{ runner.os }}-@PYTHON@-

      - name: Check
        env:
          BASE_REF: ${{ github.base_ref }}
          # What the agents need, for example:
          # OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}
        run: >-
          dyno check@SUITES@ --against @AGAINST@@OPTIONS@
          --junit @REPORT@/junit.xml --markdown @REPORT@/comment.md

      - name: Summary
        if: always()
        run: test ! -f @REPORT@/comment.md || cat @REPORT@/comment.md >> "$GITHUB_STEP_SUMMARY"

      - name: Keep the report
        if: always()
        uses: actions/upload-artifact@v4
        with:
          name: @REPORT@
          path: @REPORT@
          if-no-files-found: ignore

      # A pull request from a fork may not write; its report is in the summary of the job.
      - name: Comment
        if: always() && github.event.pull_request.head.repo.full_name == github.repository
        env:
          GH_TOKEN: ${{ github.token }}
          NUMBER: ${{ github.event.pull_request.number }}
        run: |
          test -f @REPORT@/comment.md || exit 0
          comment=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments" --jq '
            .[] | select(.user.login == "github-actions[bot]")
                | select(.body | startswith("@MARKER@")) | .id' | head -n 1)
          if [ -n "$comment" ]; then
            gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$comment" \\
              --field body=@@REPORT@/comment.md
          else
            gh pr comment "$NUMBER" --body-file @REPORT@/comment.md
          fi
"""


def ci_workflow(
    suites: Sequence[str] = (),
    *,
    against: str = "",
    options: Sequence[str] = (),
    install: str = f"python -m pip install '{SOURCE}'",
    python: str = "3.12",
    hashed: Sequence[str] = ("pyproject.toml", "requirements*.txt"),
) -> str:
    """The text of the workflow. ``suites`` are those to check, all of the workspace without any, ``options`` more
    words of ``dyno check``, and ``against`` what they are held against where that is not the pull request's base.

    ``install`` is one shell command, ``python`` a version; ``hashed`` are patterns of the files that say what has to
    be installed. A branch's name goes through the environment, because its author may put anything in it.
    """
    replaced = {
        "@PYTHON@": python,
        "@INSTALL@": install,
        "@HASHED@": ", ".join(f"'{item}'" for item in hashed),
        "@SUITES@": "".join(f" {_quoted(item)}" for item in suites),
        "@AGAINST@": _quoted(against) if against else '"origin/$BASE_REF"',
        "@OPTIONS@": "".join(f" {_quoted(item)}" for item in options),
        "@REPORT@": _REPORT,
        "@MARKER@": MARKER,
    }
    return re.sub("|".join(replaced), lambda found: replaced[found[0]], _TEMPLATE)


def write_ci(
    folder: Path,
    suites: Sequence[str] = (),
    source: str = SOURCE,
    *,
    against: str = "",
    options: Sequence[str] = (),
) -> Path:
    """Writes ``.github/workflows/dyno.yml`` below ``folder``, which installs the project too where it can be.

    ``source`` is where agentdyno comes from, as in ``install_command``; the rest is as in ``ci_workflow``.

    The same file again is left as it is. Raises ``RunError`` where another one is there, or nothing can be written.
    """
    path = folder / CI_FILE
    text = ci_workflow(suites, against=against, options=options, install=install_command(folder, source))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        if not path.is_file():
            remedy = "Move away what is in the way."
            raise RunError("is not a file that can be written", where=str(path), remedy=remedy) from None
        if _content(path) != text:
            raise RunError(
                "exists and is not the one that would be written",
                where=str(path),
                remedy="Move it away to have it written anew, or keep it.",
            ) from None
    except OSError as error:
        raise RunError(
            f"cannot be written: {error.strerror or error}", where=str(path), remedy="Check the permissions."
        ) from None
    return path


def install_command(folder: Path, source: str = SOURCE) -> str:
    """``pip install`` of agentdyno, with the project's requirements and the project itself where it has them.

    ``source`` is a requirement (``agentdyno[prices]==0.1``), a git URL (``git+https://...``), or a folder of the
    checkout (``.[prices]``). Raises ``RunError`` where it is none of these.
    """
    words = [f"python -m pip install {_source(folder, source)}"]
    if (folder / "requirements.txt").is_file():
        words.append("-r requirements.txt")
    if (folder / "pyproject.toml").is_file() and "[build-system]" in _content(folder / "pyproject.toml"):
        words.append("-e .")
    return " ".join(words)


def _source(folder: Path, source: str) -> str:
    if _REQUIREMENT.fullmatch(source) or _GIT.fullmatch(source):
        return shlex.quote(source)
    place, bracket, extras = source.partition("[")
    if (folder / place / "pyproject.toml").is_file() and place and not Path(place).is_absolute():
        if bracket and not _EXTRAS.fullmatch(bracket + extras):
            raise RunError(f"{bracket + extras} names no extras", where="--install", remedy="Write as in .[prices].")
        quoted = _quoted(place if place.startswith(".") else f"./{place}")
        return f"{quoted}'{bracket}{extras}'" if bracket else quoted
    raise RunError(
        f"agentdyno cannot be installed from {source!r} in a workflow",
        where="--install",
        remedy="Give a requirement (agentdyno==0.1), a git URL (git+https://host/owner/name@tag), or a folder of "
        "this checkout with a pyproject.toml.",
    )


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _quoted(word: str) -> str:
    """A word of the shell. A workflow's ``${{ }}`` is replaced before any shell sees it, so quoting is not enough."""
    if not _PLAIN.fullmatch(word):
        raise RunError(f"{word!r} cannot stand in a workflow", remedy="Use letters, digits, and . _ - / : = in it.")
    return shlex.quote(word)
