"""Python loads this before anything else where its folder is on PYTHONPATH: suites of ``dyno`` record given figures.

For services and commands that a test starts as processes; they hand the variable on to the processes they start.
"""

from __future__ import annotations

import sys
from pathlib import Path

if "-c" not in sys.orig_argv:  # that is a worker with an agent in it: nothing is recorded there
    sys.path.append(str(Path(__file__).parents[2]))
    from tests.given_figures import given_figures, its_pause

    given_figures(its_pause).__enter__()
