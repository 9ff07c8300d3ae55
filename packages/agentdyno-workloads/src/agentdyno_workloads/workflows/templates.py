"""A planner on a small model: it chooses a template of commands and two file names, and writes no shell itself.

Alone the model answers with valid JSON and commands such as ``count unique lines.1``. Here a JSON Schema leaves it
three choices: one of the templates below, a file of the working folder to read, and a file that the task names to
write. Solved examples, none of them a task of this workload, show how.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from agentdyno import Case, ChatModel

MODEL = "smollm2-135m-instruct"
_FILE = re.compile(r"^- (\S+) \(", re.MULTILINE)
_NAME = re.compile(r"\b[\w-]+(?:/[\w-]+)*\.(?:txt|csv|json|tsv|db|tar\.gz|pgm)\b")
Steps = list[dict[str, object]]


def _one(step_id: str, command: str, output: str, needs: tuple[str, ...] = ()) -> dict[str, object]:
    return {"id": step_id, "command": command, "needs": list(needs), "outputs": [output]}


def _most_frequent(given: str, made: str) -> Steps:
    return [
        _one("field", f"awk '{{print $7}}' {given} > field.txt", "field.txt"),
        _one(
            "count",
            f"sort field.txt | uniq -c | sort -k1,1nr -k2,2 | head -n 5 | awk '{{print $1, $2}}' > {made}",
            made,
            ("field",),
        ),
    ]


def _errors_by_hour(given: str, made: str) -> Steps:
    hours = f"awk '$9 >= 500 {{split($4, part, \":\"); print part[2]}}' {given} > hours.txt"
    table = f"(echo hour,errors; sort hours.txt | uniq -c | awk '{{print $2 \",\" $1}}') > {made}"
    return [_one("hours", hours, "hours.txt"), _one("table", table, made, ("hours",))]


def _sum_of_column(given: str, made: str) -> Steps:
    return [_one("sum", f"awk -F, 'NR > 1 {{sum += $4}} END {{print sum}}' {given} > {made}", made)]


def _sums_by_group(given: str, made: str) -> Steps:
    report = (
        'python3 -c \'import sqlite3; rows = sqlite3.connect("sales.db").execute("select region, sum(cast(cents as '
        'integer)) from sales group by region order by region"); print("region,cents"); '
        f'[print(f"{{name}},{{cents}}") for name, cents in rows]\' > {made}'
    )
    load = f"rm -f sales.db && sqlite3 sales.db '.mode csv' '.import {given} sales'"
    return [_one("load", load, "sales.db"), _one("report", report, made, ("load",))]


def _sorted_table(given: str, made: str) -> Steps:
    return [
        _one("sort", f"(head -n 1 {given}; tail -n +2 {given} | sort -t, -k4,4nr -k1,1n) > {made}", made),
    ]


def _word_index(given: str, made: str) -> Steps:
    folder = given.rpartition("/")[0] or "."
    pairs = (
        f"for file in {folder}/*.txt; do tr 'A-Z' 'a-z' < \"$file\" | grep -oE '[a-z]+' | sort -u"
        ' | sed "s|$| $(basename "$file")|"; done > pairs.txt'
    )
    index = (
        'sort pairs.txt | awk \'$1 != word {if (word != "") print line; word = $1; line = word ":"}'
        f' {{line = line " " $2}} END {{print line}}\' > {made}'
    )
    return [_one("pairs", pairs, "pairs.txt"), _one("index", index, made, ("pairs",))]


def _archive(given: str, made: str) -> Steps:
    folder = given.partition("/")[0]
    return [
        _one("sums", f"find {folder} -type f | sort | xargs sha256sum > SHA256SUMS", "SHA256SUMS"),
        _one("pack", f"tar -czf {made} {folder}", made),
        _one("restore", f"mkdir -p restored && tar -C restored -xzf {made}", f"restored/{folder}", ("pack",)),
        _one("verify", "cd restored && sha256sum --quiet -c ../SHA256SUMS", "SHA256SUMS", ("sums", "restore")),
    ]


def _lines_of_archive(given: str, made: str) -> Steps:
    count = f"zcat {given} | awk '{{count[$9]++}} END {{for (s in count) print s, count[s]}}' | sort -n > {made}"
    return [_one("count", count, made)]


def _quantify(given: str, made: str) -> Steps:
    return [
        _one("index", "kallisto index -k 21 -i transcripts.idx transcripts.fa", "transcripts.idx"),
        _one(
            "quant",
            f"kallisto quant -i transcripts.idx -o quant --plaintext --single -l 180 -s 20 {given}",
            made,
            ("index",),
        ),
    ]


TEMPLATES: dict[str, Callable[[str, str], Steps]] = {
    "count the most frequent values of a log": _most_frequent,
    "count errors of a log by hour": _errors_by_hour,
    "sum one column of a table": _sum_of_column,
    "sum a column of a table for each group with SQLite": _sums_by_group,
    "sort a table by a column": _sorted_table,
    "make an index of words in texts": _word_index,
    "back up a folder and verify it": _archive,
    "count lines of a compressed log": _lines_of_archive,
    "quantify RNA-seq reads": _quantify,
}
_EXAMPLES = (
    ("Write the ten most common agents of server.log to agents.txt.", 0, "server.log", "agents.txt"),
    ("How many failures were there in each hour of app.log? Write failures.csv.", 1, "app.log", "failures.csv"),
    ("Add up the column price of orders.csv into sum.txt.", 2, "orders.csv", "sum.txt"),
    (
        "Load costs.csv into SQLite and write totals.csv with the sum for each department.",
        3,
        "costs.csv",
        "totals.csv",
    ),
    ("Order the rows of people.csv by age and write ordered.csv.", 4, "people.csv", "ordered.csv"),
    ("For each word of the files in pages list the files that have it, in words.txt.", 5, "pages/1.txt", "words.txt"),
    ("Pack the folder photos, check the copy.", 6, "photos/1.jpg", "photos.tar.gz"),
    ("The log is packed as old.log.gz. Write how often each code occurs to codes.txt.", 7, "old.log.gz", "codes.txt"),
    ("Estimate how much of each transcript is in sample.fastq.", 8, "sample.fastq", "out/abundance.tsv"),
)


class TemplatePlanner:
    """Asks the model once per task, at temperature 0, under a schema with nothing but choices."""

    def __init__(self, base_url: str, model: str = MODEL, max_tokens: int = 64, seed: int = 7) -> None:
        options = {"temperature": 0.0, "max_tokens": max_tokens, "seed": seed}
        self.model = ChatModel(base_url, model, options=options)

    async def run(self, case: Case) -> object:
        text = case.input if isinstance(case.input, str) else json.dumps(case.input)
        task = text.partition("\n\nYou plan this")[0]
        files = _FILE.findall(text) or ["input.txt"]
        named = [name for name in dict.fromkeys(_NAME.findall(task)) if name not in files] or ["output.txt"]
        names = list(TEMPLATES)
        schema = {
            "type": "object",
            "additionalProperties": False,
            "required": ["template", "input", "output"],
            "properties": {
                "template": {"enum": names},
                "input": {"enum": files[:20]},
                "output": {"enum": named},
            },
        }
        reply = await self.model.chat(_messages(task, names), schema=schema)
        try:
            chosen = json.loads(reply.text)
            return {"steps": TEMPLATES[chosen["template"]](chosen["input"], chosen["output"])}
        except (ValueError, KeyError, TypeError):
            return reply.text  # broken off: no plan

    async def close(self) -> None:
        await self.model.close()


def _messages(task: str, names: list[str]) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = []
    for asked, number, given, made in _EXAMPLES:
        answer = json.dumps({"template": names[number], "input": given, "output": made})
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
    return [*messages, {"role": "user", "content": task}]
