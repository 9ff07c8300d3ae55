"""How often an agent fails, and how."""
