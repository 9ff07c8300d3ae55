"""What needs more than the environment that `make test` installs is collected by `make test-frameworks` alone."""

from __future__ import annotations

from .given import CHOSEN, MORE

collect_ignore = [] if set(MORE) <= set(CHOSEN) else ["test_claude_agent.py", "test_teams.py"]
