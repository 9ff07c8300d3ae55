"""One case put to one agent."""
