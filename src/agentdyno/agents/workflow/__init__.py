"""Workflow agents: a planner answers with a plan of commands, which are executed in a sandbox, resumed and measured."""
