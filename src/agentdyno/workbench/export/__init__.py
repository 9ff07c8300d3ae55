"""Results for other tools: frames, tables in files, logs of Inspect, and what notebooks show."""
