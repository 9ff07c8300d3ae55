"""``python -m agentdyno`` is ``dyno``, also where the folder of installed commands is not on the path."""

from agentdyno.cli.main import main

if __name__ == "__main__":
    main()
