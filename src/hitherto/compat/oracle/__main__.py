"""Runs a program for ``oracleagentmemory`` as it is: ``python -m hitherto.compat.oracle script.py [ARGUMENT]...``."""

from __future__ import annotations

import runpy
import sys

from hitherto.compat.oracle.activation import activate


def main() -> None:
    """Run the program that the command line names."""
    if len(sys.argv) < 2:
        print("usage: python -m hitherto.compat.oracle script.py [ARGUMENT]...", file=sys.stderr)
        raise SystemExit(2)
    activate()
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
