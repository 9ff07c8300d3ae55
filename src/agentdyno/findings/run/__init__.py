"""One run: its cautions, tables and pictures."""
