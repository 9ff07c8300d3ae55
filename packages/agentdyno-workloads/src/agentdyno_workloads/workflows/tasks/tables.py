"""Tables: CSV into SQLite and a report, a file under another name, and a tool that is not there."""

from __future__ import annotations

import csv
import random
import sqlite3
from collections import defaultdict
from pathlib import Path

from agentdyno import FinalState
from agentdyno_workloads.workflows.task import ADVANCED, BASIC, INTERMEDIATE, TaskStep, WorkflowTask

_HERE = __name__
_REGIONS = ("north", "south", "east", "west")


def _sales(seed: int, count: int) -> list[tuple[int, str, str, int]]:
    """Number, region, product and cents of each sale."""
    rng = random.Random(seed)
    products = [f"item-{number:02}" for number in range(12)]
    return [
        (number, rng.choice(_REGIONS), rng.choice(products), rng.randrange(100, 20_000))
        for number in range(1, count + 1)
    ]


def _write(path: Path, rows: list[tuple[int, str, str, int]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("id", "region", "product", "cents"))
        writer.writerows(rows)


def _by_region(rows: list[tuple[int, str, str, int]]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for _, region, _, cents in rows:
        sums[region] += cents
    return dict(sums)


def make_csv_report(folder: Path, seed: int) -> None:
    _write(folder / "sales.csv", _sales(seed, 1500))


def check_csv_report(state: FinalState, seed: int) -> None:
    rows = _sales(seed, 1500)
    wanted = ["region,cents", *(f"{name},{cents}" for name, cents in sorted(_by_region(rows).items()))]
    state.expect(state.lines("report.csv") == wanted, "report.csv does not hold the sums of the regions")
    state.expect(state.has("sales.db"), "sales.db is missing")
    copy = sqlite3.connect(f"file:{(state.folder / 'sales.db').resolve()}?mode=ro&immutable=1", uri=True)
    try:
        count = copy.execute("select count(*) from sales").fetchone()[0]
    except sqlite3.Error as error:
        count = str(error)
    finally:
        copy.close()
    state.expect(count == len(rows), f"the table sales of sales.db has {count} rows, and should have {len(rows)}")


def make_csv_top_product(folder: Path, seed: int) -> None:
    rows = _sales(seed + 1, 1200)
    _write(folder / "first.csv", rows[:600])
    _write(folder / "second.csv", rows[600:])


def check_csv_top_product(state: FinalState, seed: int) -> None:
    sums: dict[tuple[str, str], int] = defaultdict(int)
    for _, region, product, cents in _sales(seed + 1, 1200):
        sums[region, product] += cents
    wanted = {}
    for region in _REGIONS:
        own = {product: cents for (name, product), cents in sums.items() if name == region}
        wanted[region] = min(own, key=lambda product: (-own[product], product))
    state.expect(state.json("best.json") == wanted, f"best.json is not {wanted}")


def make_trap_wrong_name(folder: Path, seed: int) -> None:
    _write(folder / "sales-2025.csv", _sales(seed + 2, 800))


def check_trap_wrong_name(state: FinalState, seed: int) -> None:
    wanted = sum(cents for _, _, _, cents in _sales(seed + 2, 800))
    found = state.number("total.txt")
    state.expect(found == wanted, f"total.txt holds {found:g}, and the sum is {wanted}")


def make_trap_missing_tool(folder: Path, seed: int) -> None:
    _write(folder / "sales.csv", _sales(seed + 3, 500))


def check_trap_missing_tool(state: FinalState, seed: int) -> None:
    rows = sorted(_sales(seed + 3, 500), key=lambda row: (-row[3], row[0]))
    wanted = ["id,region,product,cents", *(",".join(map(str, row)) for row in rows)]
    state.expect(state.lines("sorted.csv") == wanted, "sorted.csv is not sorted by cents, the highest first")


_BEST = (
    "import csv, json\n"
    "from collections import defaultdict\n"
    "sums = defaultdict(lambda: defaultdict(int))\n"
    'for row in csv.DictReader(open("all.csv")):\n'
    '    sums[row["region"]][row["product"]] += int(row["cents"])\n'
    "best = {name: min(own, key=lambda item: (-own[item], item)) for name, own in sums.items()}\n"
    'json.dump(best, open("best.json", "w"))\n'
)

TASKS = (
    WorkflowTask(
        "csv-report",
        BASIC,
        "sales.csv has the columns id, region, product and cents. Load it into a SQLite database "
        "sales.db, as the table "
        "`sales`. Then write report.csv with the header `region,cents` and one line for each region, in alphabetical "
        "order, with the sum of cents.",
        _HERE,
        (
            TaskStep(
                "load",
                "rm -f sales.db && sqlite3 sales.db '.mode csv' '.import sales.csv sales'"
                ' || python3 -c \'import csv, sqlite3; rows = list(csv.reader(open("sales.csv")));'
                ' db = sqlite3.connect("sales.db"); db.execute("create table sales(id, region, product, cents)");'
                ' db.executemany("insert into sales values (?, ?, ?, ?)", rows[1:]); db.commit()\'',
                (),
                ("sales.db",),
            ),
            TaskStep(
                "report",
                'python3 -c \'import sqlite3; rows = sqlite3.connect("sales.db").execute('
                '"select region, sum(cast(cents as integer)) from sales group by region order by region");'
                ' print("region,cents"); [print(f"{name},{cents}") for name, cents in rows]\' > report.csv',
                ("load",),
                ("report.csv",),
            ),
        ),
    ),
    WorkflowTask(
        "csv-top-product",
        INTERMEDIATE,
        "first.csv and second.csv are two halves of one table with the columns id, region, product and cents. Write "
        "best.json: an object with the name of each region and the product that sold for the most cents there; of "
        "products with equal sums the first by name.",
        _HERE,
        (
            TaskStep("whole", "cat first.csv > all.csv && tail -n +2 second.csv >> all.csv", (), ("all.csv",)),
            TaskStep("program", f"cat > best.py <<'END'\n{_BEST}END", (), ("best.py",)),
            TaskStep("best", "python3 best.py", ("whole", "program"), ("best.json",)),
        ),
    ),
    WorkflowTask(
        "trap-wrong-name",
        ADVANCED,
        "The file sales_2025.csv has the columns id, region, product and cents. Write the sum of the column cents to "
        "total.txt, as a number alone.",
        _HERE,
        (
            TaskStep(
                "total",
                "awk -F, 'NR > 1 {sum += $4} END {print sum}' sales-2025.csv > total.txt",
                (),
                ("total.txt",),
            ),
        ),
        trap="the file has another name than the prompt says",
    ),
    WorkflowTask(
        "trap-missing-tool",
        ADVANCED,
        "Sort sales.csv by its fourth column, cents, the highest first, and rows with equal cents by their id in "
        "ascending order; keep the header as the first line. Write sorted.csv. Use `csvsort` of csvkit for it.",
        _HERE,
        (
            TaskStep(
                "sort",
                "(head -n 1 sales.csv; tail -n +2 sales.csv | sort -t, -k4,4nr -k1,1n) > sorted.csv",
                (),
                ("sorted.csv",),
            ),
        ),
        trap="the tool that the prompt names is not installed",
    ),
)
