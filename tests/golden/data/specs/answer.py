"""An agent that is a command: JSON in, JSON out."""

import json
import sys

print(json.dumps({"output": json.load(sys.stdin)["input"]}))
