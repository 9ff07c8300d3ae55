"""Raters: how well they agree, what leads them astray, and what their grades say about a rate nobody counted."""
