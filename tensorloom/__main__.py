"""`python -m tensorloom` is the `tensorloom` command."""

import sys

from tensorloom.cli.main import main

sys.exit(main())
