"""The other side of a run that measures two: a git revision, an interpreter, other parameters, other code."""

from __future__ import annotations

import fcntl
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from agentdyno.errors import RunError, SpecError
from agentdyno.runner.bench.job import CodeReference, Launch
from agentdyno.runs.kind import Say

DEPENDENCY_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "constraints.txt")


@dataclass(frozen=True, slots=True)
class Baseline:
    """How the baseline differs from the candidate. ``spelled`` is the form that a resumed run reads again.

    ``moved`` maps the repository to its worktree, so that files are taken from there. ``experiment`` is what runs on
    this side where that is another one.
    """

    label: str
    spelled: str
    launch: Launch
    params: Mapping[str, object] = field(default_factory=dict)
    moved: tuple[Path, Path] | None = None
    experiment: str = ""

    def code(self, code: CodeReference) -> CodeReference:
        """The candidate's code as it stands on this side."""
        return replace(
            code,
            files=tuple(self._move(file) for file in code.files),
            imports=tuple(self._move(item) if item.endswith(".py") else item for item in code.imports),
        )

    def _move(self, file: str) -> str:
        if self.moved is None:
            return file
        root, worktree = self.moved
        path = Path(file)
        if not path.is_relative_to(root):
            return file
        there = worktree / path.relative_to(root)
        if not there.exists():  # the benchmark is newer than the revision: measure the old code with it
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, there)
        return str(there)


def here(base_dir: Path) -> Launch:
    """This interpreter, with the spec's folder and everything that is importable here."""
    paths = dict.fromkeys([str(base_dir), str(Path.cwd()), *sys.path])
    return Launch(cwd=str(Path.cwd()), sys_path=tuple(path for path in paths if path))


def baseline_for(against: str, here: Launch, base_dir: Path, say: Say) -> Baseline:
    """``against`` as the user wrote it or as a stored run spells it.

    ``name=value,…`` are other parameters; an executable is another interpreter; ``file.py@name``, ``module:name`` and
    a name that is known are another experiment; anything else is a git revision.
    """
    kind, colon, rest = against.partition(":")
    if colon and kind == "params":
        return _other_params(json.loads(rest), here)
    if colon and kind == "python":
        return _other_python(rest, here)
    if colon and kind == "git":
        return _revision(rest, here, base_dir, say)
    if (colon and kind == "experiment") or _is_experiment(against, base_dir):
        name = rest if kind == "experiment" else against
        return Baseline(name, f"experiment:{name}", here, experiment=name)
    if "=" in against and not against.startswith(("/", ".")):
        return _other_params(_parse_params(against), here)
    executable = shutil.which(against)
    if executable and "python" in Path(executable).name:
        return _other_python(executable, here)
    return _revision(against, here, base_dir, say)


def _is_experiment(text: str, base_dir: Path) -> bool:
    from agentdyno.registry import registered
    from agentdyno.registry.installed import installed
    from agentdyno.registry.local import parse_reference

    known = text in registered("experiments") or text in installed("experiments")
    return known or parse_reference(text, base_dir) is not None


def has_changed(baseline: Baseline) -> bool:
    """Whether the commit that is checked out here has other files than the revision of the baseline."""
    if baseline.moved is None:
        return True
    commit = baseline.spelled.removeprefix("git:")
    return _git(baseline.moved[0], "diff", "--quiet", commit, "HEAD") is None


def _other_params(params: Mapping[str, object], here: Launch) -> Baseline:
    label = ", ".join(f"{name}={value}" for name, value in params.items())
    return Baseline(label, f"params:{json.dumps(dict(params), sort_keys=True)}", here, params)


def _parse_params(text: str) -> dict[str, object]:
    from agentdyno.specs import parse_param

    params: dict[str, object] = {}
    for part in re.split(r",(?=\s*[A-Za-z_]\w*=)", text):  # a comma inside a list starts no parameter
        name, value = parse_param(part)
        params[name] = value
    return params


def _other_python(path: str, here: Launch) -> Baseline:
    """Everything but the interpreter and its packages stays: folders of this environment are left out."""
    own = tuple(item for item in here.sys_path if not Path(item).is_relative_to(sys.prefix) and _is_ours(item))
    executable = shutil.which(path)
    if executable is None:
        raise SpecError(f"no interpreter {path}", where="--against", remedy="Give the path of a Python executable.")
    absolute = str(Path(executable).absolute())
    launch = replace(here, python=absolute, sys_path=own, label=absolute)
    return Baseline(absolute, f"python:{absolute}", launch)


def _is_ours(item: str) -> bool:
    return not Path(item).is_relative_to(sys.base_prefix) and "site-packages" not in item


def _revision(reference: str, here: Launch, base_dir: Path, say: Say) -> Baseline:
    root = _git(base_dir, "rev-parse", "--show-toplevel")
    if root is None:
        raise SpecError(
            f"{reference!r} is no interpreter, no name=value, and {base_dir} is not in a git repository",
            where="--against",
            remedy=_meant(reference, base_dir)
            or "Give a git revision inside a repository, a Python executable, parameters as name=value, or "
            "another experiment as file.py@name.",
        )
    commit = _git(base_dir, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
    if commit is None:
        raise SpecError(
            f"git knows no revision {reference!r}",
            where="--against",
            remedy=_meant(reference, base_dir) or "`git branch -a` and `git tag` list what it knows.",
        )
    worktree = _worktree(Path(root), commit)
    launch = _environment(Path(root), worktree, commit, here, say)
    short = commit[:10]
    label = f"{reference} ({short})" if not commit.startswith(reference) else short
    launch = replace(launch, label=label, code_root=str(worktree))
    return Baseline(label, f"git:{commit}", launch, moved=(Path(root), worktree))


def _meant(reference: str, base_dir: Path) -> str:
    """What to type for what is no baseline, where it can be told what was meant; else ""."""
    if reference.endswith(".py"):
        from agentdyno.agents.resolve import which_function

        return which_function(base_dir / reference)
    if reference == "last" or reference.endswith(".json"):
        return f"Results that are there already are compared with: dyno compare {reference} ANOTHER"
    from agentdyno.registry.command_lines import command_in

    command = command_in(reference) if " " in reference else ""
    return f"Commands are timed in turns with: dyno time {shlex.quote(command)} 'ANOTHER'" if command else ""


def _worktree(root: Path, commit: str) -> Path:
    """A checkout of ``commit`` below ``.dyno/worktrees``, made once, whoever else wants it at the same time.

    One that was killed while it was made has its ``.git`` and not all of its files.
    """
    worktree = root / ".dyno" / "worktrees" / commit[:16]
    made = worktree.with_suffix(".made")
    with _alone(worktree.with_suffix(".lock")):
        ignore = root / ".dyno" / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        there = (worktree / ".git").exists()
        if there and (made.exists() or _git(worktree, "diff", "--quiet", "HEAD") is not None):
            made.touch()
            return worktree
        if worktree.exists():
            shutil.rmtree(worktree, ignore_errors=True)
            _git(root, "worktree", "prune")
        done = subprocess.run(
            ["git", "worktree", "add", "--detach", "--force", str(worktree), commit],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RunError(
                f"git cannot check {commit[:10]} out: {done.stderr.strip()}",
                where=str(worktree),
                remedy="`git worktree prune` clears what is left of an earlier one.",
            )
        made.touch()
    return worktree


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Other processes wait. The lock is the kernel's: it goes with its process, however that ends."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = file.open("a")
    except OSError as error:
        raise RunError(
            f"the baseline cannot be checked out there: {error.strerror}",
            where=str(file.parent),
            remedy="Make the repository's folder .dyno writable, or use a clone that is.",
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _environment(root: Path, worktree: Path, commit: str, here: Launch, say: Say) -> Launch:
    """This interpreter where the revision declares the same dependencies, else an environment of its own."""
    sys_path = _moved_path(here.sys_path, root, worktree)
    cwd = (
        str(worktree / Path(here.cwd).relative_to(root)) if here.cwd and Path(here.cwd).is_relative_to(root) else None
    )
    if cwd is not None and not Path(cwd).is_dir():
        cwd = str(worktree)
    launch = replace(here, sys_path=sys_path, cwd=cwd or here.cwd)
    if _dependencies(worktree) == _dependencies(root):
        return launch
    folder = root / ".dyno" / "envs" / sha256((sys.version + _dependencies(worktree)).encode()).hexdigest()[:16]
    python = folder / "bin" / "python"
    with _alone(folder.with_suffix(".lock")):
        if not (folder / ".complete").exists():
            say(f"Building an environment for {commit[:10]}: its dependencies differ from those here ...")
            _build_environment(folder, worktree)
    own = tuple(path for path in sys_path if _is_ours(path) and not Path(path).is_relative_to(sys.prefix))
    return replace(launch, python=str(python), sys_path=own)


def _moved_path(paths: tuple[str, ...], root: Path, worktree: Path) -> tuple[str, ...]:
    moved = [str(worktree), str(worktree / "src")]
    for item in paths:
        path = Path(item)
        outside = not path.is_relative_to(root) or path.is_relative_to(sys.prefix)
        moved.append(item if outside else str(worktree / path.relative_to(root)))
    return tuple(dict.fromkeys(path for path in moved if Path(path).exists()))


def _dependencies(folder: Path) -> str:
    parts = [
        (name, (folder / name).read_text(errors="replace")) for name in DEPENDENCY_FILES if (folder / name).is_file()
    ]
    return json.dumps(parts)


def _build_environment(folder: Path, worktree: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = [[sys.executable, "-m", "venv", str(folder)]]
    constraints = ["-c", "constraints.txt"] if (worktree / "constraints.txt").is_file() else []
    if (worktree / "requirements.txt").is_file():
        steps.append([*install, *constraints, "-r", "requirements.txt"])
    if (worktree / "pyproject.toml").is_file() or (worktree / "setup.py").is_file():
        steps.append([*install, *constraints, "-e", "."])
    for step in steps:
        done = subprocess.run(step, cwd=worktree, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RunError(
                f"the environment of the baseline cannot be built: {done.stderr.strip()[-800:]}",
                where=" ".join(step[-3:]),
                remedy="Install it by hand and give its interpreter instead: --against PATH/bin/python.",
            )
    (folder / ".complete").touch()


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
