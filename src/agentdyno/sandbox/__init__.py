"""Limited subprocesses: memory limits, process groups, output caps. Standard library only."""

from agentdyno.sandbox.process import LimitedProcess

__all__ = ["LimitedProcess"]
