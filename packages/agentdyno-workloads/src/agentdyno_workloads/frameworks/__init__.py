"""Agent frameworks side by side on one scripted task: what they cost beyond a bare loop."""
