"""Run by a test as a process of its own: import a small benchmark named Late."""

import os
import sys
from pathlib import Path

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from tests.builders import imports  # noqa: E402

folder = Path(sys.argv[1])
folder.mkdir()
names = [*(f"filler-{number}.jpg" for number in range(20)), "50.jpg", "50-0.jpg"]
imports.imported(imports.manifest(folder, [imports.item(50)]), imports.archive(folder, names), name="Late")
