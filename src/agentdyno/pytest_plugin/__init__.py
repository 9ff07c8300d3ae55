"""The pytest plugin: suites as tests, and timings of code, in the store of the project."""
