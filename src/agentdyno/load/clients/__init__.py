"""Clients on other machines that keep one schedule between them: the way there, their clocks, and what is asked."""
