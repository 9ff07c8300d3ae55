"""A model that is simulated, behind the two protocols."""
