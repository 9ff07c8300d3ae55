"""Programs in any language that stay and answer case after case, one JSON object a line."""
