"""Python agents, each in a process of its own."""
