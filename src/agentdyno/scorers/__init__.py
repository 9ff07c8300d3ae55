"""Judges of answers.

Every scorer is a small frozen dataclass whose fields are its options. ``make_scorer`` builds one from a suite's
rubric, be it built in, installed, in a file or a plain function; ``combine`` turns what several of them say into one
score.
"""
