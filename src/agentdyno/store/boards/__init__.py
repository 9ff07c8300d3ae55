"""Executions, summaries and what boards read."""
