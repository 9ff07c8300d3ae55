"""Web server logs: counting, errors by hour, joining with users, and an archive that does not fit unpacked."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from pathlib import Path

from agentdyno import FinalState
from agentdyno_workloads.workflows.task import ADVANCED, BASIC, INTERMEDIATE, TaskStep, WorkflowTask

_PAGES = ("/", "/pricing", "/docs", "/login", "/blog/42", "/search", "/about", "/api/items", "/api/users", "/cart")
_HERE = __name__


def _entries(seed: int, count: int) -> list[tuple[str, int, str, int, int]]:
    """Address, hour, page, status and bytes of each request."""
    rng = random.Random(seed)
    weights = [1.0 / (number + 1) for number in range(len(_PAGES))]
    rows = []
    for _ in range(count):
        page = rng.choices(_PAGES, weights)[0]
        status = rng.choices((200, 304, 404, 500, 503), (80, 8, 6, 4, 2))[0]
        rows.append(
            (f"10.0.{rng.randrange(4)}.{rng.randrange(30)}", rng.randrange(24), page, status, rng.randrange(9000))
        )
    return rows


def _lines(rows: list[tuple[str, int, str, int, int]]) -> str:
    return "".join(
        f'{address} - - [03/May/2025:{hour:02}:15:00 +0000] "GET {page} HTTP/1.1" {status} {size}\n'
        for address, hour, page, status, size in rows
    )


def make_log_top_pages(folder: Path, seed: int) -> None:
    (folder / "access.log").write_text(_lines(_entries(seed, 4000)))


def check_log_top_pages(state: FinalState, seed: int) -> None:
    counts = Counter(page for _, _, page, _, _ in _entries(seed, 4000))
    wanted = [f"{count} {page}" for page, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]]
    found = [" ".join(line.split()) for line in state.lines("top.txt")]
    state.expect(found == wanted, f"top.txt holds {found}, and should hold {wanted}")


def make_log_errors_by_hour(folder: Path, seed: int) -> None:
    (folder / "access.log").write_text(_lines(_entries(seed + 1, 4000)))


def check_log_errors_by_hour(state: FinalState, seed: int) -> None:
    counts = Counter(hour for _, hour, _, status, _ in _entries(seed + 1, 4000) if status >= 500)
    wanted = ["hour,errors", *(f"{hour:02},{counts[hour]}" for hour in sorted(counts))]
    state.expect(state.lines("errors.csv") == wanted, "errors.csv does not hold the errors of each hour")


_USERS = [f"10.0.{part}.{number}" for part in range(4) for number in range(30)]


def _teams(seed: int) -> dict[str, str]:
    rng = random.Random(seed + 100)
    return {address: rng.choice(("red", "green", "blue")) for address in _USERS}


def make_log_join_teams(folder: Path, seed: int) -> None:
    (folder / "access.log").write_text(_lines(_entries(seed + 2, 3000)))
    (folder / "teams.txt").write_text("".join(f"{address} {team}\n" for address, team in _teams(seed).items()))


def check_log_join_teams(state: FinalState, seed: int) -> None:
    teams, totals = _teams(seed), Counter[str]()
    for address, _, _, _, size in _entries(seed + 2, 3000):
        totals[teams[address]] += size
    wanted = [f"{team} {totals[team]}" for team in sorted(totals)]
    found = [" ".join(line.split()) for line in state.lines("traffic.txt")]
    state.expect(found == wanted, f"traffic.txt holds {found}, and should hold {wanted}")


def make_trap_disk_quota(folder: Path, seed: int) -> None:
    text = _lines(_entries(seed + 3, 20_000))
    with gzip.GzipFile(folder / "access.log.gz", "wb", mtime=0) as file:
        file.write(text.encode() * 6)


def check_trap_disk_quota(state: FinalState, seed: int) -> None:
    counts = Counter(status for _, _, _, status, _ in _entries(seed + 3, 20_000))
    wanted = [f"{status} {count * 6}" for status, count in sorted(counts.items())]
    found = [" ".join(line.split()) for line in state.lines("statuses.txt")]
    state.expect(found == wanted, f"statuses.txt holds {found}, and should hold {wanted}")


TASKS = (
    WorkflowTask(
        "log-top-pages",
        BASIC,
        "The file access.log is a web server's log in the common format. Write the five most "
        "requested paths to top.txt, "
        "one a line as `COUNT PATH`, the most requested first; paths with equal counts in alphabetical order.",
        _HERE,
        (
            TaskStep("paths", "awk '{print $7}' access.log > paths.txt", (), ("paths.txt",)),
            TaskStep("count", "sort paths.txt | uniq -c > counts.txt", ("paths",), ("counts.txt",)),
            TaskStep(
                "top",
                "sort -k1,1nr -k2,2 counts.txt | head -n 5 | awk '{print $1, $2}' > top.txt",
                ("count",),
                ("top.txt",),
            ),
        ),
    ),
    WorkflowTask(
        "log-errors-by-hour",
        BASIC,
        "The file access.log is a web server's log in the common format. Write errors.csv with the "
        "header `hour,errors` "
        "and one line for each hour (two digits, in order) that has responses with a status of 500 "
        "or above: the hour "
        "and the number of such responses.",
        _HERE,
        (
            TaskStep(
                "hours",
                "awk '$9 >= 500 {split($4, part, \":\"); print part[2]}' access.log > hours.txt",
                (),
                ("hours.txt",),
            ),
            TaskStep(
                "table",
                "(echo hour,errors; sort hours.txt | uniq -c | awk '{print $2 \",\" $1}') > errors.csv",
                ("hours",),
                ("errors.csv",),
            ),
        ),
    ),
    WorkflowTask(
        "log-join-teams",
        INTERMEDIATE,
        "access.log is a web server's log in the common format, whose first field is the address of "
        "the client and whose "
        "last is the number of bytes sent. teams.txt has lines of `ADDRESS TEAM`. Write traffic.txt with one line "
        "`TEAM BYTES` for each team, in alphabetical order: all bytes sent to the addresses of the team.",
        _HERE,
        (
            TaskStep("bytes", "awk '{print $1, $NF}' access.log | sort -k1,1 > bytes.txt", (), ("bytes.txt",)),
            TaskStep("teams", "sort -k1,1 teams.txt > teams.sorted", (), ("teams.sorted",)),
            TaskStep("join", "join bytes.txt teams.sorted > joined.txt", ("bytes", "teams"), ("joined.txt",)),
            TaskStep(
                "sum",
                "awk '{sum[$3] += $2} END {for (team in sum) print team, sum[team]}' joined.txt | sort > traffic.txt",
                ("join",),
                ("traffic.txt",),
            ),
        ),
    ),
    WorkflowTask(
        "trap-disk-quota",
        ADVANCED,
        "access.log.gz is a compressed web server's log in the common format. Unpack it and write "
        "statuses.txt with one "
        "line `STATUS COUNT` for each status code of the responses, in ascending order. The working "
        "folder holds 8 MB "
        "at most.",
        _HERE,
        (
            TaskStep(
                "count",
                "set -o pipefail; zcat access.log.gz | awk '{count[$9]++} END {for (s in count) print s, count[s]}'"
                " | sort -n > statuses.txt",
                (),
                ("statuses.txt",),
            ),
        ),
        quota_mb=8,
        trap="unpacked, the log is larger than the disk",
    ),
)
