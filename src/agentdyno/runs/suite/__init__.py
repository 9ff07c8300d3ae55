"""Runs of suites."""
