"""Runs and their samples."""
