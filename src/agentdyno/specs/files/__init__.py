"""Files to plain values, and what can be wrong with them."""
