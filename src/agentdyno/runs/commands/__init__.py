"""Runs of commands."""
