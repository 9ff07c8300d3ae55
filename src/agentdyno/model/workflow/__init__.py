"""What a case says when it is a task for a workflow."""
