"""Numbers: an image that is scaled down, and a series that is smoothed."""

from __future__ import annotations

import random
from pathlib import Path

from agentdyno import FinalState
from agentdyno_workloads.workflows.task import INTERMEDIATE, TaskStep, WorkflowTask

_HERE = __name__
_SIDE = 64


def _pixels(seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[(x * y + rng.randrange(60)) % 256 for x in range(_SIDE)] for y in range(_SIDE)]


def make_image_thumbnail(folder: Path, seed: int) -> None:
    rows = [" ".join(map(str, row)) for row in _pixels(seed)]
    (folder / "photo.pgm").write_text(f"P2\n{_SIDE} {_SIDE}\n255\n" + "\n".join(rows) + "\n")


def check_image_thumbnail(state: FinalState, seed: int) -> None:
    pixels = _pixels(seed)
    small = [
        [255 - sum(pixels[y + a][x + b] for a in range(4) for b in range(4)) // 16 for x in range(0, _SIDE, 4)]
        for y in range(0, _SIDE, 4)
    ]
    words = state.text("thumbnail.pgm").split()
    wanted = ["P2", "16", "16", "255", *(str(value) for row in small for value in row)]
    state.expect(words == wanted, "thumbnail.pgm is not the inverted photo at a quarter of its size")
    counts = [0, 0, 0, 0]
    for row in small:
        for value in row:
            counts[value // 64] += 1
    state.expect(state.json("histogram.json") == counts, f"histogram.json is not {counts}")


def _series(seed: int) -> list[float]:
    rng = random.Random(seed + 9)
    values, value = [], 100.0
    for _ in range(400):
        value = round(max(10.0, value + rng.gauss(0, 2)), 2)
        values.append(value)
    return values


def make_series_drawdown(folder: Path, seed: int) -> None:
    rows = "".join(f"{day},{value:.2f}\n" for day, value in enumerate(_series(seed), 1))
    (folder / "prices.csv").write_text("day,price\n" + rows)


def check_series_drawdown(state: FinalState, seed: int) -> None:
    values = _series(seed)
    found = state.json("result.json")
    state.expect(isinstance(found, dict), "result.json is no object")
    assert isinstance(found, dict)
    peak, worst = values[0], 0.0
    for value in values:
        peak = max(peak, value)
        worst = max(worst, (peak - value) / peak)
    smooth = [sum(values[at - 6 : at + 1]) / 7 for at in range(6, len(values))]
    for key, wanted in (("max_drawdown", worst), ("highest_week", max(smooth))):
        said = found.get(key)
        close = isinstance(said, (int, float)) and abs(said - wanted) < 1e-3
        state.expect(close, f"{key} is {said!r}, and should be {wanted:.4f}")


_THUMBNAIL = """words = open("photo.pgm").read().split()
width, height = int(words[1]), int(words[2])
flat = [int(word) for word in words[4:]]
rows = [flat[y * width:(y + 1) * width] for y in range(height)]
small = [[255 - sum(rows[y + a][x + b] for a in range(4) for b in range(4)) // 16 for x in range(0, width, 4)]
         for y in range(0, height, 4)]
with open("thumbnail.pgm", "w") as file:
    file.write("P2\\n%d %d\\n255\\n" % (width // 4, height // 4))
    file.write("\\n".join(" ".join(map(str, row)) for row in small) + "\\n")
"""
_HISTOGRAM = """import json
values = [int(word) for word in open("thumbnail.pgm").read().split()[4:]]
counts = [sum(low <= value < low + 64 for value in values) for low in (0, 64, 128, 192)]
json.dump(counts, open("histogram.json", "w"))
"""
_DRAWDOWN = """import csv, json
values = [float(row["price"]) for row in csv.DictReader(open("prices.csv"))]
peak, worst = values[0], 0.0
for value in values:
    peak = max(peak, value)
    worst = max(worst, (peak - value) / peak)
weeks = [sum(values[at - 6:at + 1]) / 7 for at in range(6, len(values))]
json.dump({"max_drawdown": worst, "highest_week": max(weeks)}, open("result.json", "w"))
"""

TASKS = (
    WorkflowTask(
        "image-thumbnail",
        INTERMEDIATE,
        "photo.pgm is a grey image in the plain PGM format (P2), 64 by 64. Write thumbnail.pgm, P2 "
        "as well, 16 by 16: "
        "each pixel is 255 minus the mean of a block of 4 by 4 pixels, where the mean is rounded "
        "down first. Then write "
        "histogram.json: a list with the numbers of pixels of the thumbnail in 0-63, 64-127, 128-191 and 192-255. "
        "Python 3 is there, without further packages.",
        _HERE,
        (
            TaskStep("thumbnail", f"python3 - <<'END'\n{_THUMBNAIL}END", (), ("thumbnail.pgm",)),
            TaskStep("histogram", f"python3 - <<'END'\n{_HISTOGRAM}END", ("thumbnail",), ("histogram.json",)),
        ),
    ),
    WorkflowTask(
        "series-drawdown",
        INTERMEDIATE,
        "prices.csv has the columns day and price. Write result.json with two numbers: max_drawdown, "
        "the largest fall "
        "from a peak as a share of the peak (0 to 1), and highest_week, the highest mean of seven consecutive days.",
        _HERE,
        (TaskStep("compute", f"python3 - <<'END'\n{_DRAWDOWN}END", (), ("result.json",)),),
    ),
)
