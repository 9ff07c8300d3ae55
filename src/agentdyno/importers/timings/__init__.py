"""Files of tools that time code."""
