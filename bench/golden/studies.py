"""What happens in the run: benchmarks are imported, studies created, judged, adjudicated, and people excluded."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.golden import material
from bench.golden.pages import Page

DEMO = "Demo: drawn scenes"
BATCHES = (
    "choose.batch_size=20",
    "choose.agreement_items=20",
    "choose.tie_rule=adjudicate",
    "disambiguate.batch_size=20",
)


@dataclass(frozen=True)
class Scenario:
    """A study and its crowds. `limit`: judgments of a crowd at most; `close`: the stages that are closed after the
    second one, since samples are drawn then.
    """

    name: str
    make: Callable[[Path], list[str]] | None
    create: tuple[str, ...] = ()
    limit: int = 100
    close: tuple[int, ...] = ()
    people: int = 5


def _sets(*changes: str) -> tuple[str, ...]:
    return tuple(part for change in changes for part in ("--set", change))


SCENARIOS = (
    Scenario("demo", None, limit=60, close=(1, 2)),
    Scenario("real", material.real, ("--preset", "bivlc", "--sample", "12", *_sets(*BATCHES)), limit=100, close=(1, 2)),
    Scenario("visla-generic", material.visla_generic, ("--preset", "visla-generic"), limit=36, people=3),
    Scenario("visla-spatial", material.visla_spatial, ("--preset", "visla-spatial"), limit=24, people=3),
    Scenario(
        "hard-positives",
        material.hard_positives,
        ("--preset", "hard-positives", "--sample", "40", *_sets("rank.tie_rule=adjudicate")),
        limit=60,
        people=3,
    ),
    Scenario(
        "sugarcrepe",
        material.sugarcrepe,
        ("--preset", "verify", *_sets("verify.overlap=2", "verify.tie_rule=adjudicate")),
        limit=72,
    ),
    Scenario(
        "sugarcrepe-compare", material.sugarcrepe_compare, ("--preset", "sugarcrepe-eval", "--sample", "4"), limit=16
    ),
)


class Play:
    """One scenario in one instance. `command` runs one of ours and records what it prints; `record` keeps an answer
    under a name.
    """

    def __init__(self, scenario: Scenario, instance, client, command, record):
        self.scenario, self.instance, self.client = scenario, instance, client
        self.command, self.record = command, record
        self.title = scenario.name if scenario.make else DEMO

    def prepare(self) -> None:
        """Import and create, as far as the scenario's first crowd."""
        if self.scenario.make is None:
            self.command("create_demo", "--items", "40")
            return
        folder = self.instance.folder / self.scenario.name
        folder.mkdir()
        given = self.scenario.make(folder)
        self.command("import_benchmark", *given, "--name", self.title)
        fixed = ("--name", self.title, "--seed", "11", "--url", "http://localhost")
        self.command("create_study", self.title, *self.scenario.create, *fixed)

    def judge(self) -> None:
        """Two crowds, the pages of somebody who looks on in each stage, cases decided, people excluded."""
        self.simulate(seed=1, limit=self.scenario.limit)
        self.look_on("first")
        if self.scenario.close:
            self.simulate(seed=2, limit=self.scenario.limit)
            for position in self.scenario.close:
                self.post(f"stages/{position}/move/", to="closed", anyway="yes")
            self.simulate(seed=3, limit=self.scenario.limit // 3)
            self.look_on("second")
        self.adjudicate(3)
        self.post("people/2/", act="exclude", reason="Answers do not follow the rules.")
        self.post("people/3/", act="exclude", reason="A mistake.")
        self.post("people/3/", act="reinstate", reason="It was a mistake.")
        self.simulate(seed=4, limit=self.scenario.limit // 4)

    def simulate(self, seed: int, limit: int) -> None:
        """One annotator at a time, so that all goes in the same order again."""
        crowd = ("--annotators", str(self.scenario.people), "--error-rate", "0.2", "--seed", str(seed))
        self.command(
            "simulate", self.title, *crowd, "--limit", str(limit), "--concurrency", "1", "--url", self.instance.url
        )

    @property
    def study(self):
        from django.apps import apps

        return apps.get_model("annotation", "Study").objects.get(name=self.title)

    def post(self, path: str, **fields: str) -> None:
        """A manager's form, sent to a path below the study's own."""
        answer = self.client.post(f"/studies/{self.study.pk}/{path}", fields, follow=True)
        if answer.status_code != 200:
            raise RuntimeError(f"{self.title}: {path} was answered with {answer.status_code}.")

    def adjudicate(self, count: int) -> None:
        """The first cases that wait: one dropped as broken, one sent back, one decided by its first answer."""
        url = f"/studies/{self.study.pk}/quality/decide/?stage=1"
        for number in range(count):
            page = Page(url, self.client.get(url).content.decode())
            try:
                _, fields = page.form("verdict", "task")
            except StopIteration:
                return
            verdict = "flagged" if number == 0 else fields["verdict"]
            said = {"verdict": verdict, "do": "send_back" if number == 1 else "decide", "note": f"Reason {number}."}
            answer = self.client.post(url, {**fields, **said}, follow=True)
            self.record(f"adjudicated-{number}", answer)

    def look_on(self, when: str) -> None:
        """In each stage: join, read the rules, see a screen, flag it, leave. Each page is recorded."""
        from django.test import Client

        for stage in self.study.stages.order_by("position"):
            client, name = Client(), f"{when}-{stage.position}"
            joining = client.get(f"/join/{stage.invite}/")
            self.record(f"{name}-join", joining)
            forms = Page("", joining.content.decode()).forms
            if not forms:
                continue
            fields = {**forms[0][1], "name": "Looker-on", "consent": "yes"}
            answer = client.post(f"/join/{stage.invite}/", fields, follow=True)
            home = answer.redirect_chain[-1][0]
            self.record(f"{name}-rules", answer)
            page = Page(home, answer.content.decode())
            if any("version" in fields for _, fields in page.forms):
                action, fields = page.form("version")
                answer = client.post(action, fields, follow=True)
                self.record(f"{name}-screen", answer)
            page = Page(home, answer.content.decode())
            if any("lease" in fields for _, fields in page.forms):
                _, fields = page.form("lease")
                self.record(f"{name}-screen-json", client.get(home, headers={"Accept": "application/json"}))
                flagged = {**fields, "flag_reason": "Something is wrong here."}
                self.record(f"{name}-flagged", client.post(f"{home}flag/", flagged, follow=True))
                self.record(f"{name}-refused", client.post(f"{home}submit/", {**fields, "answer": "nonsense"}))
                self.record(f"{name}-skipped", client.post(f"{home}skip/", fields, follow=True))
            self.record(f"{name}-rules-again", client.get(f"{home}?rules"))
            self.record(f"{name}-history", client.get(f"{home}history/"))
            self.record(f"{name}-leave", client.get(f"{home}leave/"))
            self.record(f"{name}-left", client.post(f"{home}leave/", follow=True))

    def look_in(self) -> None:
        """What the first simulated annotators see when they come back."""
        from django.test import Client

        for person in self.study.annotators.order_by("pk")[:4]:
            client, home = Client(), f"/judge/{person.token}/"
            self.record(f"annotator-{person.number}", client.get(home, follow=True))
            self.record(f"annotator-{person.number}-history", client.get(f"{home}history/"))

    def publish(self, folder: Path) -> None:
        """Report, export, and two releases: of the least that may be public, and of the most."""
        self.command("report", self.title, "--json", str(folder / "report.json"), "--html", str(folder / "report.html"))
        self.command("export_split", self.title, "--out", str(folder / "export"))
        most = ("--public", "times", "annotators", "comments", "gold", "--splits", "80/10/10", "--seed", "3")
        for name, public in (("least", ("--forms", "jsonl", "csv", "source")), ("most", most)):
            forms = ("--forms", "imagefolder", "jsonl", "csv", "webdataset", "source") if name == "most" else ()
            out = folder / name
            version = f"{self.scenario.name}@{'1.0' if name == 'least' else '1.1'}"
            self.command("create_release", self.title, version, *public, *forms, "--out", str(out))
            if out.exists():
                self.command("verify_release", str(out), "--json")
        both = (f"{self.scenario.name}@1.0", f"{self.scenario.name}@1.1")
        self.command("diff_release", *both)
        self.command("diff_release", *both, "--json")
