"""The process under load."""
