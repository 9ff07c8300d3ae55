"""Files of tools that evaluate models."""
