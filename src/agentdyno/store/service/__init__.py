"""Jobs, keys, workers."""
