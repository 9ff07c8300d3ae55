"""Entry points of installed packages: listed without importing anything, loaded one by one."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentdyno.errors import PluginError, nearest
from agentdyno.registry.local import Target, load_target
from agentdyno.registry.names import GROUPS, registered

WORKLOADS_PACKAGE = "agentdyno-workloads"
IN_WORKLOADS_PACKAGE = {
    "agents": ("workflow-reference", "workflow-smollm2", "workflow-template"),
    "datasets": ("workflows",),
    "experiments": (
        *("database_profiler", "framework_faults", "framework_overhead", "framework_suite"),
        *("llm_multi_agent", "llm_single_agent", "memory_db"),
        *("observation_flow", "observation_profiler", "perception_metrics", "pragma_profile", "redis_memory"),
        *("rl_algorithm", "rl_framework", "spatial_comprehensive", "spatial_index_profiler"),
        *("spatial_memory_profiler", "spatial_performance_analyzer", "system_profiler"),
    ),
    "reporters": ("llm", "rl"),
    "workloads": ("frameworks", "llm", "rl", "simulation", "workflows"),
}
"""Names of our own that another package brings, so that whoever misses one hears what to install."""
STRESS = "stress"
"""What a kind of run names under ``findings`` whose samples are windows of a load."""


@dataclass(frozen=True, slots=True)
class Installed:
    """One entry point: ``value`` is ``module:attr``, of a workload its module alone; ``package`` the distribution."""

    kind: str
    name: str
    value: str
    package: str

    @property
    def target(self) -> Target:
        module, _, attribute = self.value.partition("[")[0].partition(":")  # without extras
        return Target(attribute.strip(), module=module.strip())


def installed(kind: str) -> dict[str, Installed]:
    """Entry points of one kind by name; a name given by two packages is refused, naming both."""
    found: dict[str, Installed] = {}
    for item in _all_installed():
        if item.kind != kind:
            continue
        before = found.get(item.name)
        if before is not None and before.value != item.value:
            raise PluginError(
                f"two {kind} are called {item.name!r}: {before.value} of {before.package} "
                f"and {item.value} of {item.package}",
                remedy="Uninstall one of the two packages.",
            )
        found[item.name] = item
    return found


def load(kind: str, name: str) -> Any:
    """The object behind a name, local or installed; an unknown name answers with the nearest ones."""
    local = registered(kind)
    entries = installed(kind)
    if name in local:
        if name in entries and local[name].target is not load_target(kind, entries[name].target):
            raise PluginError(
                f"two {kind} are called {name!r}: {local[name].origin} and {entries[name].value}",
                remedy="Rename the local one.",
            )
        return local[name].target
    if name in entries:
        return load_target(kind, entries[name].target)
    raise unknown(kind, name)


def unknown(kind: str, name: str, others: Iterable[str] = ()) -> PluginError:
    """The error for a name that nothing has; ``others`` are names that it may have been meant for, too."""
    package = package_to_install(kind, name)
    if package is not None:
        return PluginError(
            f"unknown {kind[:-1]} {name!r}: it comes with {package}, which is not installed",
            remedy=f"Install it: pip install {package}",
        )
    return PluginError(
        f"unknown {kind[:-1]} {name!r}",
        remedy=f"{nearest(name, [*registered(kind), *installed(kind), *others])} `dyno list {kind}` shows all; "
        "local code comes in from experiments/, through `imports:` in a spec or in dyno.yaml, or as file.py@name.",
    )


def package_to_install(kind: str, name: str) -> str | None:
    """The package that would bring a name which is not there; ``None`` when it is there, or none of ours has it."""
    if name in installed(kind) or name not in IN_WORKLOADS_PACKAGE.get(kind, ()):
        return None
    return WORKLOADS_PACKAGE


def _all_installed() -> list[Installed]:
    """From a cache that holds as long as no folder on ``sys.path`` has changed."""
    cache = _cache_file()
    stamps = [_changed_at(folder) for folder in sys.path]
    try:
        cached = json.loads(cache.read_text())
        if cached["stamps"] == stamps:
            return [Installed(*map(_text, row)) for row in cached["rows"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass
    rows = _scan()
    _write_cache(cache, {"stamps": stamps, "rows": [[row.kind, row.name, row.value, row.package] for row in rows]})
    return rows


def _scan() -> list[Installed]:
    from importlib.metadata import distributions

    rows: list[Installed] = []
    seen: set[str] = set()
    for distribution in distributions():
        try:
            package = str((distribution.metadata.get_all("Name") or [""])[0])
            points = list(distribution.entry_points)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue  # a broken installation of something else is not our user's concern here
        if package in seen:
            continue
        if package:
            seen.add(package)
        for point in points:
            prefix, _, kind = point.group.partition(".")
            if prefix == "agentdyno" and kind in GROUPS:
                rows.append(Installed(kind, point.name, point.value, package or "?"))
    return sorted(rows, key=lambda row: (row.kind, row.name))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("the cache holds something else than text")
    return value


def _cache_file() -> Path:
    try:
        root = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    except RuntimeError:
        root = os.devnull  # a user without a home has no cache
    folders = [str(folder) or str(Path.cwd()) for folder in sys.path]
    key = sha256(repr((sys.version, GROUPS, folders)).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return Path(root) / "agentdyno" / f"entry-points-{key}.json"


def _changed_at(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return 0


def _write_cache(cache: Path, content: dict[str, Any]) -> None:
    temporary = cache.with_suffix(f".{os.getpid()}")
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(content))
        temporary.replace(cache)
    except OSError:
        pass  # a cache that cannot be written is only slower


@cache
def findings_of(kind: str) -> tuple[str, ...]:
    """What is concluded about runs of a kind, as the kind names it; nothing where the kind is not installed."""
    if kind not in installed("kinds"):
        return ()
    found: Any = load("kinds", kind)
    made: Any = found() if inspect.isclass(found) else found
    return tuple(made.findings)


def has_windows(kind: str) -> bool:
    """Whether the samples of such runs are windows of a load, and its conclusions tell what they say."""
    return STRESS in findings_of(kind)
