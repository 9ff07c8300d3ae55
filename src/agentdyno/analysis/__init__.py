"""Results to findings: pure functions, no clock, no files, no printing."""
