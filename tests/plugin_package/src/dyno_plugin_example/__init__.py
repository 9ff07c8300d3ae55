"""An example of a third party's package for agentdyno."""

import os

if os.environ.get("DYNO_PLUGIN_FORBID_IMPORT"):
    raise RuntimeError("dyno_plugin_example was imported although DYNO_PLUGIN_FORBID_IMPORT is set")

from .tsv import TsvReporter

__all__ = ["TsvReporter"]
