"""Measure how fast scoring is compared with a bare loop of open_clip, what a second run costs, and whether memory stays
flat.

    python -m bench.scoring                      (ViT-B-32, 200 drawn photographs; some minutes on two cores)
    python -m bench.scoring --model tiny --images 1000 30000      (memory; a small random model and small pictures)
    python -m bench.scoring --model itm --images 40 --rounds 3     (pairs: a BLIP whose image tower is a ViT-S/16)

Weights are random: numbers mean nothing, work is the same. All loops run in one process, on one machine, with the same
files and batches, one after the other in `--rounds` rounds, and the middle round counts: `decoded` is open_clip over
tensors that are made before the clock starts, `bare` is the loop that everybody writes (open, prepare, stack, encode),
`winnow` is the job from missing images to committed vectors. For pairs, `bare` opens each pair's image and computes it
with its caption. Prints JSON.
"""

import argparse
import io
import json
import os
import random
import statistics
import time
import zipfile
from pathlib import Path

from bench.scratch import winnow

PHOTO, SMALL = (640, 480), (64, 48)
WORDS = "a the red blue cup plate dog cat table on under beside small large green old two three men ride"


def picture(number: int, size: tuple[int, int]) -> bytes:
    """Return a JPEG with as much detail as a photograph: soft shapes and some noise."""
    from PIL import Image

    draw = random.Random(number)
    small = Image.frombytes("RGB", (24, 18), draw.randbytes(24 * 18 * 3)).resize(size, Image.Resampling.BICUBIC)
    noise = Image.effect_noise(size, 20).convert("RGB") if size == PHOTO else small
    file = io.BytesIO()
    Image.blend(small, noise, 0.3).save(file, "JPEG", quality=90, comment=str(number).encode())
    return file.getvalue()


def imported(folder: Path, images: int, size: tuple[int, int]):
    """Import a benchmark of half as many items, each with two captions and two images."""
    from benchmarks.models import Benchmark
    from tests.builders import imports

    draw, items = random.Random(1), []
    with zipfile.ZipFile(folder / "images.zip", "w") as packed:
        for number in range(images // 2):
            names = [f"{number}-{role}.jpg" for role in ("positive", "negative")]
            for place, name in enumerate(names):
                packed.writestr(name, picture(2 * number + place, size))
            captions = [
                {"role": role, "text": f"{number} {' '.join(draw.choices(WORDS.split(), k=11))}."}
                for role in ("positive", "negative")
            ]
            shown = [{"role": role, "file": name} for role, name in zip(("positive", "negative"), names, strict=True)]
            items.append(imports.item(number, images=shown, captions=captions))
    name = f"{images} images"
    job = imports.imported(imports.manifest(folder, items), folder / "images.zip", name=name)
    assert job.state == "done", job.problems
    return Benchmark.objects.get(name=name)


def middle_seconds(loops: dict, rounds: int) -> dict[str, float]:
    """Return each loop's median of the rounds after a warm-up. The loops take turns, each with nothing stored."""
    from benchmarks.models import Embedding

    taken: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(rounds + 1):
        for name, loop in loops.items():
            Embedding.objects.all().delete()
            began = time.perf_counter()
            loop()
            taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(found[1:]) for name, found in taken.items()}


def bare_loops(encoder, prepare, files: list[Path], texts: list[str]) -> dict:
    """Return the loops by name; each uses the model that Winnow has loaded."""
    import torch
    from PIL import Image

    model, tokenizer, device, size = encoder.model, encoder.tokenizer, encoder.device, encoder.most
    decoded = [prepare(Image.open(file)) for file in files]
    tokens = tokenizer(texts)

    def over(things, batch_of, encode):
        with torch.inference_mode():
            for start in range(0, len(things), size):
                encode(batch_of(things[start : start + size]).to(device), normalize=True).cpu().numpy()

    opened = lambda part: torch.stack([prepare(Image.open(file)) for file in part])  # noqa: E731
    return {
        "images decoded": lambda: over(decoded, torch.stack, model.encode_image),
        "images bare": lambda: over(files, opened, model.encode_image),
        "captions decoded": lambda: over(tokens, lambda part: part, model.encode_text),
        "captions bare": lambda: over(texts, tokenizer, model.encode_text),
    }


def speed(benchmark, encoder, prepare, rounds: int) -> dict:
    from benchmarks.models import Caption, Image
    from benchmarks.storage.files import kept

    images = list(Image.objects.filter(uses__item__benchmark=benchmark).distinct().order_by("pk"))
    texts = sorted(Caption.objects.filter(item__benchmark=benchmark).values_list("text", flat=True).distinct())
    loops = bare_loops(encoder, prepare, [kept.contents(image.original_path) for image in images], texts)
    counts = {"images": len(images), "captions": len(texts)}
    loops |= {f"{what} winnow": lambda what=what: filled(benchmark, encoder, what) for what in counts}
    rates = {name: counts[name.split()[0]] / seconds for name, seconds in middle_seconds(loops, rounds).items()}
    told = {f"{name} a second": round(rate, 2) for name, rate in rates.items()}
    for what in counts:
        for other in ("decoded", "bare"):
            told[f"{what} winnow / {other}"] = round(rates[f"{what} winnow"] / rates[f"{what} {other}"], 3)
    return told


def pairs_speed(benchmark, scorer, rounds: int) -> dict:
    """Return pairs per second for a bare loop over the loaded model and for the job."""
    import torch
    from PIL import Image

    from benchmarks.models import Embedding
    from benchmarks.runs import pairs
    from benchmarks.scoring import score
    from benchmarks.storage.files import kept

    work = scoring_work(benchmark)
    row = score.model_row(scorer, work.model_name, work.device)
    Embedding.objects.all().delete()
    asked = [(kept.contents(pair.path), pair.text) for pair in pairs.missing_pairs(row, work.scope, work.wanted)]

    def bare() -> None:
        size = scorer.most
        for start in range(0, len(asked), size):
            images, texts = zip(*asked[start : start + size], strict=True)
            opened = [Image.open(file).convert("RGB") for file in images]
            with torch.inference_mode():
                made = scorer.processor(images=opened, text=list(texts), padding=True, return_tensors="pt")
                found = scorer.model(**made.to(scorer.device)).itm_score
                torch.log_softmax(found, dim=-1)[:, 1].cpu().numpy()

    loops = {"bare": bare, "winnow": lambda: work.score_pairs(row, scorer)}
    rates = {name: len(asked) / seconds for name, seconds in middle_seconds(loops, rounds).items()}
    told = {f"pairs {name} a second": round(rate, 2) for name, rate in rates.items()}
    return told | {"pairs": len(asked), "pairs winnow / bare": round(rates["winnow"] / rates["bare"], 3)}


def scoring_work(benchmark):
    """Return the work of a new job."""
    from benchmarks.jobs import jobs
    from benchmarks.scoring import score

    job = score.queue_score(benchmark=benchmark, order=score.ScoreOrder(*ASKED), by="load")
    return score.Scoring(job, jobs.Progress(job))


def filled(benchmark, encoder, what: str) -> None:
    """Do the job's own step: encode what is missing and keep it."""
    from benchmarks.scoring import score

    work = scoring_work(benchmark)
    work.encoder = encoder
    model = score.model_row(encoder, work.model_name, work.device)
    missing = work.missing(model)
    for other in {"images", "captions"} - {what}:
        missing[other] = missing[other].none()
    work.missing = lambda model: missing
    work.encode(model)
    assert work.encoded[what]


ASKED = ["", ""]


def peak() -> float:
    """Return this process's peak memory so far, in MiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def twice(benchmark) -> dict:
    """Do a first run and a second one, as a worker does."""
    from benchmarks.jobs import jobs
    from benchmarks.scoring import score

    told = {}
    for name in ("first", "second"):
        job = score.queue_score(benchmark=benchmark, order=score.ScoreOrder(*ASKED), by="load")
        done = jobs.run(job_id=job.pk, by="load", work=score.Scoring.do)
        assert done.state == "done", done.problems
        told[name] = (done.finished_at - done.started_at).total_seconds()
    share = round(100 * told["second"] / told["first"], 2)
    return {f"{name} run, seconds": round(of, 2) for name, of in told.items()} | {"second of first, percent": share}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", default="ViT-B-32-quickgelu")
    options.add_argument("--images", type=int, nargs="+", default=[200])
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--only-memory", action="store_true")
    asked = options.parse_args()
    with winnow() as var:
        import open_clip
        import torch

        from tests.builders.scored_benchmarks import tiny_clip
        from tests.builders.tiny_models import tiny_matching
        from workers.models import loading
        from workers.models.model_name import parse_model

        small = asked.model == "tiny"
        if pairs := asked.model == "itm":
            sight = {"hidden_size": 384, "intermediate_size": 1536, "num_hidden_layers": 12, "num_attention_heads": 6}
            ASKED[:] = [f"itm:{tiny_matching(var / 'models' / 'itm', image_size=224, **sight)}", ""]
        elif small:
            ASKED[:] = [tiny_clip(var / "models" / "tiny"), ""]
        else:
            torch.manual_seed(0)
            (var / "models").mkdir()
            torch.save(open_clip.create_model(asked.model).state_dict(), var / "models" / "weights.pt")
            ASKED[:] = [asked.model, str(var / "models" / "weights.pt")]
        told = {"device": "cuda" if torch.cuda.is_available() else "cpu", "cores": len(os.sched_getaffinity(0))}
        for count in asked.images:
            folder = var / f"import-{count}"
            folder.mkdir()
            benchmark = imported(folder, count, SMALL if small else PHOTO)
            found = {"peak before, MiB": round(peak()), **twice(benchmark), "peak after, MiB": round(peak())}
            if pairs:
                found |= pairs_speed(benchmark, loading.load(parse_model(*ASKED, var / "models")), asked.rounds)
            elif not small and not asked.only_memory:
                encoder = loading.load(parse_model(*ASKED, var / "models"))
                _, prepare = open_clip.create_model_from_pretrained(*ASKED)
                found |= speed(benchmark, encoder, prepare, asked.rounds)
            told[f"{count} images"] = found
            print(json.dumps(told[f"{count} images"]), flush=True)
        print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
