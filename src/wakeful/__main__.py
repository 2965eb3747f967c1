"""`python -m wakeful`."""

import sys

from wakeful.cli import main

if __name__ == "__main__":
    sys.exit(main())
