"""Runs as traces of OpenTelemetry, and traces and runs as cases of a suite."""
