"""Versions of suites, side by side."""
