"""Two results of experiments side by side."""
