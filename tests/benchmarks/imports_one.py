"""Run by a test as a process of its own: import a small benchmark named Late."""

import os
import sys
from pathlib import Path

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from tests.benchmarks import importing  # noqa: E402

folder = Path(sys.argv[1])
folder.mkdir()
names = [*(f"filler-{number}.jpg" for number in range(20)), "50.jpg", "50-0.jpg"]
importing.imported(importing.manifest(folder, [importing.item(50)]), importing.archive(folder, names), name="Late")
