"""Model servers for tests, demos and offline runs: a simulated one and a real local one."""
