"""When to stop."""
