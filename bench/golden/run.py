"""`python -m bench.golden.run OUT`: the golden run of the checkout in the working directory."""

import argparse
import hashlib
import io
import json
import shutil
import sys
import time
from pathlib import Path

from bench.golden import compare, material
from bench.golden.files import Recorder
from bench.golden.instance import instance, rewrite_times
from bench.golden.material import SHARED
from bench.golden.normalise import Normaliser
from bench.golden.pages import Page, file_name, walk
from bench.golden.studies import SCENARIOS, Play

EXPECTED = Path(__file__).with_name("expected.sha256")
OTHERS = ("django", "rest_framework", "drf_spectacular")  # whose commands are not ours

COLUMNS = """SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default,
  is_identity, generation_expression FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"""
CONSTRAINTS = """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2"""
INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2"
TRIGGERS = """SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger
  WHERE NOT tgisinternal ORDER BY 1, 2"""
FUNCTIONS = """SELECT proname, pg_get_functiondef(oid) FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' AND prolang <> 13 ORDER BY 1"""
SCHEMA = {"columns": COLUMNS, "constraints": CONSTRAINTS, "indexes": INDEXES}
SCHEMA |= {"triggers": TRIGGERS, "functions": FUNCTIONS}
SUFFIXES = {"application/json": ".json", "text/csv": ".csv", "text/html": "", "text/plain": ".txt"}
MODELS = {"studies": ("annotation", "Study"), "benchmarks": ("benchmarks", "Benchmark"), "jobs": ("benchmarks", "Job")}


class Run:
    def __init__(self, out: Path):
        self.out = out
        self.began = time.monotonic()

    def say(self, what: str) -> None:
        print(f"{time.monotonic() - self.began:6.1f} s  {what}", flush=True)

    def everything(self) -> None:
        with instance(self.schema) as self.here:
            self.normal = Normaliser(str(self.here.folder))
            self.keep = Recorder(self.out, self.normal)
            self.keep.json("schema.json", self.tables)
            self.commands()
            self.client = self.admin()
            plays = [self.play(scenario) for scenario in SCENARIOS]
            self.models()
            rewrite_times()
            self.client = self.admin()
            for play in plays:
                play.client = self.client
                self.publish(play)
            self.say("published")
            self.api()
            self.say(f"{self.pages()} pages walked")
            for play in plays:
                play.look_in()
        self.say("done")

    def schema(self) -> None:
        from django.db import connection

        with connection.cursor() as cursor:
            self.tables = {}
            for name, query in SCHEMA.items():
                cursor.execute(query)
                self.tables[name] = [list(row) for row in cursor.fetchall()]

    def commands(self) -> None:
        """--help of every command of ours, and those that read files alone."""
        from django.core.management import get_commands, load_command_class

        for name, app in sorted(get_commands().items()):
            if not str(app).startswith(OTHERS):
                parser = load_command_class(app, name).create_parser("manage.py", name)
                self.keep.text(f"help/{name}.txt", parser.format_help())
        for table in material.ratings(self.here.folder):
            ratings = ("--ratings", str(table), "--json", "--repeated", "first")
            self.command("files", "agreement", *ratings)
            self.command("files", "aggregate", *ratings, "--method", "dawid-skene")
        answers = sorted((SHARED / "sugarcrepe" / "gpt4v_positive_first").glob("*.json"))
        self.command("files", "evaluate", "sugarcrepe", "--predictions", *map(str, answers), "--json")
        for answers in sorted((SHARED / "bivlc").glob("results_*.csv")):
            self.command("files", "evaluate", "bivlc", "--predictions", str(answers), "--json")
            self.command("files", "evaluate", "bivlc", "--predictions", str(answers))

    def command(self, folder: str, name: str, *words: str) -> None:
        """Run it as its command line would, and record what it prints and how it ends."""
        from django.core.management import CommandError, call_command

        said, ended = io.StringIO(), ""
        try:
            call_command(name, *words, stdout=said, stderr=said)
        except CommandError as refusal:
            ended = f"\nCommandError: {refusal}"
        except SystemExit as end:
            ended = f"\nexit {end.code}"
        self.normal.refresh()
        path = self.out / folder / "commands.txt"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        self.keep.text(f"{folder}/commands.txt", f"{before}$ {name} {' '.join(words)}\n{said.getvalue()}{ended}")

    def admin(self):
        from django.contrib.auth import get_user_model
        from django.test import Client

        who, _ = get_user_model().objects.get_or_create(username="admin", is_staff=True, is_superuser=True)
        client = Client()
        client.force_login(who)
        return client

    def play(self, scenario) -> Play:
        def command(name: str, *words: str) -> None:
            self.command(scenario.name, name, *words)

        def record(name: str, answer) -> None:
            self.answer(f"{scenario.name}/judging/{name}", answer)

        play = Play(scenario, self.here, self.client, command, record)
        play.prepare()
        play.judge()
        self.say(f"{scenario.name} judged")
        return play

    def models(self) -> None:
        """Answers of models and figures of papers beside the people's."""
        answers = [str(path) for path in sorted((SHARED / "sugarcrepe" / "gpt4v_positive_first").glob("*.json"))]
        named = ("--model", "GPT-4V", "--source", "SugarCrepe")
        self.command("models", "import_predictions", "sugarcrepe", *answers, *named, "--skip-incomplete")
        correct = str(SHARED / "bivlc" / "sugarcrepe_correct_ViT-B-32.csv")
        blind = ("--model", "ViT-B-32", "--source", "BiVLC", "--skip-incomplete", "--blind")
        self.command("models", "import_predictions", "sugarcrepe", correct, *blind)
        results = str(SHARED / "bivlc" / "results_ViT-B-32.csv")
        named = ("--model", "ViT-B-32", "--source", "BiVLC", "--skip-incomplete")
        self.command("models", "import_predictions", "real", results, *named)
        for benchmark, table in (("sugarcrepe", "sugarcrepe"), ("real", "bivlc"), ("visla-generic", "visla-generic")):
            self.command("models", "import_reported", benchmark, "--published", table)
        self.command("models", "blind", "sugarcrepe")
        self.command("models", "export_source", "sugarcrepe", "--out", str(self.here.folder / "source"))

    def publish(self, play: Play) -> None:
        folder = self.here.folder / f"published-{play.scenario.name}"
        folder.mkdir()
        play.publish(folder)
        for name in ("export", "least", "most"):
            self.keep.folder(f"{play.scenario.name}/{name}", folder / name)
        self.keep.content(f"{play.scenario.name}/report.json", (folder / "report.json").read_bytes())
        self.page(f"{play.scenario.name}/report", "", (folder / "report.html").read_text(encoding="utf-8"))

    def answer(self, name: str, answer) -> None:
        """An answer over HTTP: a page as text and structure, anything else as content."""
        self.normal.refresh()
        kind = answer.get("Content-Type", "").partition(";")[0]
        content = answer.getvalue()
        redirects = [f"{status} → {url}" for url, status in getattr(answer, "redirect_chain", [])]
        head = "\n".join([*redirects, f"{answer.status_code} {kind}"])
        suffix = SUFFIXES.get(kind, ".bin")
        if kind == "text/html":
            self.page(name, head, content.decode())
        elif answer.status_code == 200:
            self.keep.content(name.removesuffix(suffix) + suffix, content)
        else:
            self.keep.text(f"{name}.txt", f"{head}\n{content.decode()}")

    def page(self, name: str, head: str, html: str) -> None:
        page = Page("", html)
        self.keep.text(f"{name}.txt", "\n".join([head, *page.text]))
        self.keep.text(f"{name}.tree", "\n".join(page.structure))

    def api(self) -> None:
        """The description, and an answer of every address in it for every study, stage, benchmark and job."""
        described = self.client.get("/api/v1/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
        schema = json.loads(described.getvalue())
        self.keep.json("api/schema.json", schema)
        for path in sorted(path for path, of in schema["paths"].items() if "get" in of):
            for url in self.filled(path):
                self.answer(f"api/{file_name(url)}", self.client.get(url))
        for url in ("/api/v1/studies/?colour=red", "/api/v1/studies/1/judgments/?stage=1&counted=true&limit=5"):
            self.answer(f"api/{file_name(url)}", self.client.get(url))

    def filled(self, path: str) -> list[str]:
        """The addresses of a path such as /api/v1/studies/{id}/stages/{position}/; none of one with other names."""
        from django.apps import apps

        if "{" not in path:
            return [path]
        before, _, after = path.partition("{")
        after = after.partition("}")[2]
        found: list[str] = []
        if before.strip("/").split("/")[-1] not in MODELS or "{" in after.replace("{position}", ""):
            return found
        for one in apps.get_model(*MODELS[before.strip("/").split("/")[-1]]).objects.order_by("pk"):
            if "{" in after:
                middle, _, end = after.partition("{")
                positions = one.stages.order_by("position").values_list("position", flat=True)
                found += [f"{before}{one.pk}{middle}{position}{end.partition('}')[2]}" for position in positions]
            else:
                found.append(f"{before}{one.pk}{after}")
        return found

    def pages(self) -> int:
        """Every page that links lead an admin to; and of somebody who has not logged in, and where nothing is."""
        from django.test import Client

        for url in ("/", "/login/", "/studies/", "/healthz", "/nowhere/", "/join/nowhere/", "/judge/nowhere/"):
            self.answer(f"anonymous/{file_name(url)}", Client().get(url))
        return walk(self.client, ["/"], lambda url, answer: self.answer(f"pages/{file_name(url)}", answer))


def hashes(out: Path) -> str:
    """The lines of expected.sha256."""
    found = {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in sorted(compare.files(out))}
    return "".join(f"{digest}  {name}\n" for name, digest in found.items())


def differing(found: str) -> list[str]:
    """Names of files that are not as EXPECTED says, or are there in one of the two only."""
    texts = (EXPECTED.read_text(encoding="utf-8"), found)
    known, now = (dict(line.split("  ", 1)[::-1] for line in text.splitlines()) for text in texts)
    return sorted(name for name in known.keys() | now.keys() if known.get(name) != now.get(name))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("out", type=Path, help="a folder, which is emptied first")
    options.add_argument("--check", action="store_true", help="compare with expected.sha256; exits 1 where it differs")
    options.add_argument("--record", action="store_true", help="write expected.sha256 anew")
    given = options.parse_args()
    shutil.rmtree(given.out, ignore_errors=True)
    given.out.mkdir(parents=True)
    Run(given.out.resolve()).everything()
    found = hashes(given.out)
    print(f"{len(found.splitlines()):,} files in {given.out}")
    if given.record:
        EXPECTED.write_text(found)
    if not given.check:
        return 0
    wrong = differing(found)
    print("\n".join(wrong[:100]), f"\n{len(wrong):,} files differ from {EXPECTED.name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
