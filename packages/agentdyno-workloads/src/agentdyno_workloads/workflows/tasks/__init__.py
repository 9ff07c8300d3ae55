"""The tasks, by subject."""
