"""A CPU machine of a session: ``python -m weir.serve``.

It reads WEIR_SERVER, WEIR_SIZE, WEIR_SERVERS, WEIR_LEADER and WEIR_SECRET from the environment. It ends when
the ranks have shut down. With ``--repeat`` it waits for their next session.
"""

import argparse
import os
import signal
import sys

from ._library import library
from .errors import Error


def main() -> int:
    """Serves, and prints why if that fails."""
    parser = argparse.ArgumentParser(
        prog="python -m weir.serve",
        description="Runs a CPU machine of a session. It sums what the ranks send.")
    parser.add_argument("--repeat", action="store_true",
                        help="serve one session after another, until stopped")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler would wait for the library to return
    try:
        library().serve({})
        while arguments.repeat:
            library().serve({})
    except (Error, ImportError) as why:
        print(f"weir.serve: server {os.environ.get('WEIR_SERVER', '?')}: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
