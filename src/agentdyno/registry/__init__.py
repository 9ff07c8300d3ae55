"""One way in for built-ins, third parties and local code: name -> object.

Local code enters by a decorator (``@register_experiment("slug")``), packages by an entry point per object in
the groups ``agentdyno.experiments``, ``.instruments``, ``.reporters``, ``.agents``, ``.scorers``, ``.datasets`` and
``.importers``; those of ``agentdyno.workloads`` name folders with specs and suites.
Standard library only: this package also runs inside measured processes.
"""

from agentdyno.registry.names import (
    GROUPS,
    KINDS,
    Registered,
    register_agent,
    register_dataset,
    register_experiment,
    register_importer,
    register_instrument,
    register_reporter,
    register_scorer,
    registered,
)

__all__ = [
    "GROUPS",
    "KINDS",
    "Registered",
    "register_agent",
    "register_dataset",
    "register_experiment",
    "register_importer",
    "register_instrument",
    "register_reporter",
    "register_scorer",
    "registered",
]
