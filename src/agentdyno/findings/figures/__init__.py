"""Samples to figures: cases, dimensions, summaries, histograms."""
