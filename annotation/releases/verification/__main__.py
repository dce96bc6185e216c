"""`python -m annotation.releases.verification DIR`: like `manage.py verify_release DIR`, without settings."""

import argparse
import sys
from pathlib import Path

from annotation.releases.verification.verifying import verify


def main() -> int:
    options = argparse.ArgumentParser(prog="verify_release", description="Verify a release from its files only.")
    options.add_argument("folder", type=Path)
    options.add_argument("--json", action="store_true", help="print the result as JSON")
    given = options.parse_args()
    report = verify(given.folder)
    print(report.written(given.json))
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
