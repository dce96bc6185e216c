"""Studies whose question is a protocol file: of the library, on items made to suit it."""

from annotation.designs import presets
from annotation.models import Study
from annotation.protocol_files.publish import publish
from annotation.protocols.declared import library
from annotation.protocols.declared.schema import ProtocolFile, bounds
from benchmarks.models import Benchmark, Caption, Item, ItemImage
from tests.builders import studies

SEVERAL = 4  # members of a role that may have any number


def published(name: str) -> str:
    """The name under which stages ask the protocol of the library: `prompt-fit@1`."""
    return str(publish(text=library.text_of(name), by="test"))


def benchmark(file: ProtocolFile, items: int = 2) -> Benchmark:
    """Items with as many parts in each role as the file wants, and not more than four where it leaves that open."""
    made = Benchmark.objects.create(name=f"Benchmark {next(studies.serial)}", source="jsonl")
    for number in range(items):
        item = Item.objects.create(benchmark=made, key=f"item-{number}", position=number, type="swap", subtype="att")
        for reference, count in file.roles.items():
            kind, _, role = reference.partition(".")
            least, most = bounds(count)
            for place in range(most or max(least, SEVERAL)) if most != least else range(least):
                if kind == "images":
                    name = f"{item.key}_{role}_{place}.jpg"
                    ItemImage.objects.create(
                        item=item, image=studies.image(), role=role, position=place, source_name=name
                    )
                else:
                    text = f"{number} red cups and {place} blue plates stand on the {len(role)} tables."
                    Caption.objects.create(item=item, role=role, position=place, text=text)
    return made


def study(name: str, items: int = 2, **settings) -> Study:
    """A study with one stage that asks the protocol of the library, as its file says."""
    stages = [one.with_settings(**settings) for one in presets.single_stage(published(name)).stages]
    return studies.study(benchmark=benchmark(library.shipped(name), items), stages=stages)
