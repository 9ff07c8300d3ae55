"""The same agents in Python and in Rust, on the same model, measured by the bench."""
