"""How a metric went over time, and what became worse."""
