"""Change points and trends of a series."""
