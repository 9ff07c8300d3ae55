"""Is anything worse than its baseline, and since when?"""
