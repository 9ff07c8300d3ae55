"""What a worker's interpreter is told to do with ``-c``: load our package by its path, then work."""

from __future__ import annotations

from pathlib import Path

TOO_OLD = "agentdyno-python-too-old"
"""What an interpreter that cannot run us prints before it ends."""

# Only our package comes from its path: a foreign environment keeps its own versions of everything else. The current
# folder leaves the path before anything is imported, since it may hold a json.py; ``sys_path`` joins it after our
# modules are loaded, for the same reason. Has to be readable for any Python, so that an old one can say what it is.
_TEXT = """
import sys
if sys.version_info < (3, 11):
    sys.exit("agentdyno-python-too-old")
sys.path[:] = [path for path in sys.path if path]
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
package, module, fd = sys.argv[1:4]
paths = sys.argv[4:]
sys.argv = [""]
spec = spec_from_file_location("agentdyno", package + "/__init__.py", submodule_search_locations=[package])
sys.modules["agentdyno"] = ours = module_from_spec(spec)
spec.loader.exec_module(ours)
main = import_module(module).main
sys.path[:] = paths + [path for path in sys.path if path not in paths]
main(int(fd))
"""


def command(python: str, module: str, fd: int, sys_path: tuple[str, ...] = ()) -> list[str]:
    """Starts ``main(fd)`` of a module of ours, with ``sys_path`` in front of what the interpreter finds by itself."""
    return [python, "-c", _TEXT, str(Path(__file__).parent.parent), module, str(fd), *sys_path]
