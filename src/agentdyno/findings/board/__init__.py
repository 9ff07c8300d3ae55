"""Leaderboard, matrix, coverage."""
