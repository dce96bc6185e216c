"""Run by a test as a process of its own: `BASE FOLDER STEPS` trains, and dies by kill -9 after that many steps (0:
never). Prints the hash of the weights
and the curve."""

import json
import os
import signal
import sys
from pathlib import Path

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from tests.builders import trainings  # noqa: E402
from workers.models import device, encoder_trainer, loading  # noqa: E402

device.cores = lambda: 1
encoder_trainer.EVERY = 2
base, folder, steps = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])


class Watch(trainings.Unresponsive):
    def step(self, curve) -> None:
        super().step(curve)
        if self.steps == steps:
            os.kill(os.getpid(), signal.SIGKILL)


task = trainings.task(base, folder, "negclip", batch=4, epochs=3, rate=2e-3, warmup=2)
trained = loading.load_trainer(task).run(Watch())
if int(os.environ.get("RANK", 0)) == 0:
    print(json.dumps([trained.weights, trained.curve.as_json()]))
