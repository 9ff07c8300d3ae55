"""Who may import whom. Lazy and type-checking imports count too."""

from __future__ import annotations

import re

import pytest

from .source import Module, by_name, modules, our_imports

# From the top down. A layer may import what is below it; parts of one layer do not know each other. Parts of
# ``findings`` are told apart by the beginning of their file names, so that a slice is one folder.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("__main__",),
    ("cli", "pytest_plugin"),
    ("web",),
    ("jobs",),
    ("workflows",),
    ("workbench",),
    ("findings/ask",),
    ("runs",),
    ("reports",),
    ("store", "specs", "load", "agents", "scorers", "instruments", "importers", "runner"),
    ("findings/tables",),
    ("show",),
    ("registry",),
    ("contracts",),
    ("pricing", "servers"),
    ("wire", "workers"),
    ("sandbox",),
    ("findings/judge",),
    ("findings/model",),
    ("model",),
    ("settings", "stats", "extras"),
    ("errors", "garbage", "version"),
)
DEPTH = {part: depth for depth, layer in enumerate(LAYERS) for part in layer}
TIERS = {
    "ask": "findings/ask",
    "tables": "findings/tables",
    "charts": "findings/tables",
    "conclusions": "findings/tables",
    "catalogue": "findings/tables",
    "judge": "findings/judge",
    "words": "findings/judge",
    "model": "findings/model",
}
WHOLE_FOLDERS = {"engine": "findings/judge", "figures": "findings/judge"}
# A subfolder that is a kind of its own: they do not know each other.
KINDS = ("experiment", "suite", "load")


def part_of(name: str) -> str:
    """The layer's part that a module belongs to: ``store``, ``findings/judge``."""
    parts = name.split(".")
    if parts[0] != "findings":
        return parts[0]
    if len(parts) > 1 and parts[1] in WHOLE_FOLDERS:
        return WHOLE_FOLDERS[parts[1]]
    if by_name()[name].is_package:
        return "findings"  # a docstring alone
    tier = re.split(r"_", parts[-1])[0]
    assert tier in TIERS, f"findings/{'/'.join(parts[1:])}.py: a slice has no file of this name"
    return TIERS[tier]


@pytest.mark.parametrize("module", modules(), ids=str)
def test_imports_point_down_only(module: Module) -> None:
    if not module.name or module.parts[0] == "workloads":
        return
    part = part_of(module.name)
    if part == "findings":
        assert not our_imports(module), f"{module} is a folder's docstring and imports nothing"
        return
    assert part in DEPTH, f"{part} has no place in the layers"
    wrong = []
    for other in sorted(our_imports(module)):
        if not other:  # the package itself: its version and its place
            continue
        their = part_of(other)
        assert their != "workloads", f"{module} imports workloads; nothing may"
        if their != part and DEPTH[their] <= DEPTH[part]:
            wrong.append(other)
    assert not wrong, f"{module} imports {', '.join(wrong)}, which is not below it"


def test_kinds_of_runs_do_not_know_each_other() -> None:
    for module in modules():
        if module.parts[0] != "runs" or len(module.parts) < 3 or module.parts[1] not in KINDS:
            continue
        for other in our_imports(module):
            parts = other.split(".")
            known = parts[0] == "runs" and len(parts) > 2 and parts[1] in KINDS
            assert not known or parts[1] == module.parts[1], f"{module} imports {other}"
