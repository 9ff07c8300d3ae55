"""Commands that are timed, as a user describes them."""
