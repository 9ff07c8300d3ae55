"""Workflow agents: a planner answers with a plan of commands, executed in a sandbox, resumed and measured."""
