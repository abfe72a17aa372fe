"""Run the command line as ``python -m hitherto``."""

from __future__ import annotations

from hitherto.cli import main

if __name__ == "__main__":
    main()
