"""The machine, the interpreter and the state of the code that a run is made with.

A result is shared with others, so nothing here tells who or where: no hostname, no user, no path, and of the
environment variables only those listed, with values of a harmless form.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path, PurePosixPath

from agentdyno.instruments import cgroup, host
from agentdyno.model.identity import digest
from agentdyno.model.result import Environment, Vcs
from agentdyno.runs.host_state import host_id
from agentdyno.version import __version__

VARIABLES = (
    "BLIS_NUM_THREADS",
    "MALLOC_ARENA_MAX",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OPENBLAS_NUM_THREADS",
    "PYTHONDEVMODE",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTHONNODEBUGRANGES",
    "PYTHONOPTIMIZE",
    "PYTHONUNBUFFERED",
    "PYTHON_GIL",
    "PYTHON_JIT",
    "RAYON_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""The variables that change how fast Python or a numeric library runs; no other is ever recorded, but for the
file names in ``LD_PRELOAD``."""

_HARMLESS = re.compile(r"[A-Za-z0-9_.,:+-]{0,32}")
_NAME_OR_VERSION = re.compile(r"^(Name|Version): *(\S[^\n]*?) *$", re.MULTILINE)
_GIT_TIMEOUT_S = 5.0
_GIT_PLACE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")


def capture_environment(root: Path = host.ROOT, variables: Mapping[str, str] | None = None) -> Environment:
    """What this process runs on and with; ``root`` and ``variables`` default to the real ones."""
    given = os.environ if variables is None else variables
    return Environment(
        machine_id=machine_id(root),
        os=_os(),
        kernel=platform.release(),
        cpu_model=_cpu_model(root),
        cpu_count=_cpu_count(root),
        memory_bytes=_memory_bytes(root),
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        agentdyno=__version__,
        packages=installed_packages(metadata.distributions()),
        variables=allowed_variables(given),
        details=_details(root, given),
        host_id=host_id(),
    )


def machine_id(root: Path = host.ROOT) -> str:
    """16 hexadecimal digits that are the same for machines of the same CPU model, cores, GiB and system."""
    return digest([_cpu_model(root), _cpu_count(root), round(_memory_bytes(root) / 1024**3), _os()], 16)


def allowed_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Those of ``VARIABLES`` that are set; a value of an unexpected form is only said to be set."""
    found = {}
    for name in VARIABLES:
        if name in variables:
            value = variables[name]
            found[name] = value if _HARMLESS.fullmatch(value) else "(set)"
    preloaded = [PurePosixPath(path).name for path in re.split(r"[ :]+", variables.get("LD_PRELOAD", "")) if path]
    if preloaded:
        found["LD_PRELOAD"] = ":".join(name if _HARMLESS.fullmatch(name) else "(set)" for name in preloaded)
    return found


def installed_packages(distributions: Iterable[metadata.Distribution]) -> dict[str, str]:
    """Normalised name to version, sorted; of several with one name the first, which is what gets imported."""
    found: dict[str, str] = {}
    for distribution in distributions:
        try:
            name, version = _name_and_version(distribution)
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            continue  # a folder that a broken uninstall left behind
        if name and version:
            found.setdefault(re.sub(r"[-_.]+", "-", str(name)).lower(), str(version))
    return dict(sorted(found.items()))


def _name_and_version(distribution: metadata.Distribution) -> tuple[str | None, str | None]:
    """Read from the head of the file: parsing all of it for every installed package takes longer than a short run."""
    head = (distribution.read_text("METADATA") or "").partition("\n\n")[0]
    found = dict(_NAME_OR_VERSION.findall(head))
    if len(found) == 2:
        return found["Name"], found["Version"]
    fields = distribution.metadata
    return fields["Name"], fields["Version"]


def capture_vcs(directory: Path) -> Vcs | None:
    """Where the code in ``directory`` stands in git; ``None`` outside a repository, before a first commit, or
    without git. Never raises.

    ``dirty`` is true when a tracked file differs from the commit, when there are untracked files that are not
    ignored (agentdyno's own ``.dyno`` apart), and when git could not tell in time.
    """
    status = _git(directory, "status", "--porcelain=v2", "--branch", "-z")
    if status is None:
        commit = _git(directory, "rev-parse", "--verify", "HEAD")
        if not commit:
            return None
        branch = _git(directory, "symbolic-ref", "--short", "--quiet", "HEAD")
        return Vcs(commit.strip(), (branch or "").strip() or None, dirty=True)
    header = dict(re.findall(r"# (branch\.\w+) ([^\0]*)\0", status))
    commit = header.get("branch.oid", "")
    branch = header.get("branch.head")
    if not re.fullmatch(r"[0-9a-f]{40,64}", commit):
        return None
    entries = [entry for entry in status.split("\0") if entry and not entry.startswith("# ")]
    dirty = any(not (entry.startswith("? ") and ".dyno" in PurePosixPath(entry[2:]).parts) for entry in entries)
    return Vcs(commit, None if branch == "(detached)" else branch, dirty)


def _git(directory: Path, *arguments: str) -> str | None:
    """Git's answer about ``directory``, or ``None`` when it has none in time."""
    # A git hook exports the place of its own repository, which may be another one.
    variables = {name: value for name, value in os.environ.items() if name not in _GIT_PLACE}
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *arguments],
            cwd=directory,
            env={**variables, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_GIT_TIMEOUT_S,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")


def _os() -> str:
    return f"{platform.system()} {platform.machine()}".strip()


def _cpu_model(root: Path) -> str:
    return host.cpu_model(root) or platform.processor() or "unknown"


def _cpu_count(root: Path) -> int:
    return host.cpu_count(root) or os.cpu_count() or 1


def _memory_bytes(root: Path) -> int:
    known = host.memory(root).get("MemTotal")
    if known is not None:
        return known
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def _details(root: Path, variables: Mapping[str, str]) -> dict[str, object]:
    """What else may explain a difference; facts that cannot be read are left out."""
    details: dict[str, object] = {
        "governor": ", ".join(host.governors(root)) or None,
        "turbo": host.turbo(root),
        "smt": host.smt(root),
        "cpu_quota": cgroup.cpu_quota(root),
        "cpus_allowed": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "container": host.container(root, variables),
        "virtual_machine": host.virtual_machine(root),
        "load_1min": host.load_1min(root),
        "aslr": host.aslr(root),
        "clock_source": host.clock_source(root),
        "clock_resolution_s": time.get_clock_info("perf_counter").resolution,
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "compiler": platform.python_compiler(),
        "debug_build": hasattr(sys, "gettotalrefcount"),
        "optimize": sys.flags.optimize,
        "dev_mode": sys.flags.dev_mode,
        "distribution": _distribution(root),
    }
    return {name: value for name, value in details.items() if value is not None}


def _distribution(root: Path) -> str | None:
    match = re.search(r'^PRETTY_NAME="?([^"\n]*)"?$', host.read_text(root, "etc/os-release") or "", re.MULTILINE)
    return match[1] if match else None
