"""The project that ``dyno init`` writes."""
