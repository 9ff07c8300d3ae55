"""Loading code by file or module, and finding an object in it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from agentdyno.errors import DynoError, PluginError, nearest
from agentdyno.registry.names import registered

_LIBRARY = str(Path(importlib.__file__).parent)
_loading: list[str] = []
_loaded_by_path: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Target:
    """Where an object is to be found: in a module, or in one of some files under a registered name or attribute."""

    name: str
    module: str | None = None
    files: tuple[str, ...] = ()


def parse_reference(reference: str, base_dir: Path) -> Target | None:
    """``file.py@name`` or ``module:attr`` as a target; ``None`` when it is a plain name."""
    file, at, name = reference.rpartition("@")
    if at and file.endswith(".py"):
        path = (base_dir / file).resolve()
        if not path.is_file():
            others = [str(p.name) for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
            raise PluginError(f"no file {file}", where=reference, remedy=nearest(path.name, others))
        return Target(name, files=(str(path),))
    module, colon, name = reference.partition(":")
    if colon and name and all(part.isidentifier() for part in module.split(".")):
        return Target(name, module=module)
    return None


def load_target(kind: str, target: Target, also_known: Collection[str] = ()) -> Any:
    """The object itself. What its code raises while loading is reported as a ``PluginError``.

    ``also_known`` are names from elsewhere that a typo may have meant.
    """
    if target.module is not None:
        module = _import(target.module)
        found: Any = module
        for part in target.name.split("."):
            if not hasattr(found, part):
                known = [name for name in vars(module) if not name.startswith("_")]
                raise PluginError(f"{target.module} has no {target.name}", remedy=nearest(target.name, known))
            found = getattr(found, part)
        return found
    modules = [load_import(file) for file in target.files]
    local = registered(kind)
    if target.name in local:
        return local[target.name].target
    for module in modules:
        if hasattr(module, target.name):
            return getattr(module, target.name)
    candidates = {*local, *also_known} | {
        name for module in modules for name, value in vars(module).items() if _written_in(value, module)
    }
    raise PluginError(
        f"no {kind[:-1]} called {target.name!r}",
        where=", ".join(Path(file).name for file in target.files) or None,
        remedy=nearest(target.name, candidates),
    )


def load_import(item: str) -> ModuleType:
    """A line of ``imports:``, either a Python file or an importable module."""
    return load_file(Path(item)) if item.endswith(".py") else _import(item)


def load_file(path: Path) -> ModuleType:
    """Executes a file as a module of its own, once per process; its folder becomes importable."""
    from agentdyno.registry.caches import SourceAsWritten, believe_only_later_caches

    believe_only_later_caches()
    path = path.resolve()
    name = f"{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise PluginError("no such file", where=str(path), remedy="Check the path; it is relative to the spec file.")
    spec = importlib.util.spec_from_file_location(name, path, loader=SourceAsWritten(name, str(path)))
    if spec is None or spec.loader is None:
        raise PluginError("not a Python file", where=str(path))
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _loaded_by_path[name] = str(path)
    _loading.append(str(path))
    try:
        spec.loader.exec_module(module)
    except (DynoError, KeyboardInterrupt):
        sys.modules.pop(name, None)
        raise
    except BaseException as error:
        sys.modules.pop(name, None)
        raise _load_failure(error, str(path)) from error
    finally:
        _loading.pop()
    return module


def file_being_loaded() -> str | None:
    """The file whose top level is being executed at this moment, if any."""
    return _loading[-1] if _loading else None


def loaded_by_path(module: str) -> bool:
    """Whether a module is a file that ``load_file`` executed, which nobody can import by name."""
    return module in _loaded_by_path


def _import(name: str) -> ModuleType:
    if name.partition(".")[0] != "agentdyno":
        from agentdyno.registry.caches import believe_only_later_caches

        believe_only_later_caches()
    try:
        return importlib.import_module(name)
    except DynoError:
        raise
    except (Exception, SystemExit) as error:
        raise _load_failure(error, name) from error


def _load_failure(error: BaseException, where: str) -> PluginError:
    """Names the file and the line of the user's code that failed, as far as the traceback tells."""
    import traceback  # slow to load, and nearly nothing fails

    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith("<") and frame.f_code.co_filename != __file__
    ]
    own = [line for file, line in frames if file == where]
    places = [f"{file}:{line}" for file, line in frames if not file.startswith(_LIBRARY)]
    line = f" (line {own[-1]})" if own else ""
    if not own and places and not isinstance(error, SyntaxError):
        line = f" ({places[-1]})"
    remedy = f"`{Path(sys.executable).name} {where}` shows the whole traceback."
    if isinstance(error, ModuleNotFoundError):
        remedy = f"Install {error.name or 'what is missing'} into this environment, or put its folder on PYTHONPATH."
    elif not where.endswith(".py"):
        remedy = f"`{Path(sys.executable).name} -c 'import {where}'` shows the whole traceback."
    return PluginError(f"cannot be loaded: {type(error).__name__}: {error}{line}", where=where, remedy=remedy)


def _written_in(value: object, module: ModuleType) -> bool:
    return (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == module.__name__


def find_source(module: str) -> Path | None:
    """The file of a module, found without importing it or its parent packages; ``None`` when there is none or it is
    not Python source."""
    folders: list[str] | None = None
    *parents, last = module.split(".")
    for part in parents:
        spec = _find_spec(part, folders)
        if spec is None or spec.submodule_search_locations is None:
            return None
        folders = list(spec.submodule_search_locations)
    spec = _find_spec(last, folders)
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


def _find_spec(part: str, folders: list[str] | None) -> ModuleSpec | None:
    """One part of a dotted name. A full name would ask for the parent module, which is not loaded."""
    try:
        spec = PathFinder.find_spec(part, folders)
    except (ImportError, ValueError):
        return None
    if spec is not None or folders is not None:
        return spec
    for finder in sys.meta_path:  # editable installs may come with a finder of their own
        find = getattr(finder, "find_spec", None)
        try:
            found = cast(ModuleSpec | None, find(part, None)) if find is not None else None
        except (ImportError, ValueError, AttributeError, KeyError, OSError):
            found = None
        if found is not None:
            return found
    return None
