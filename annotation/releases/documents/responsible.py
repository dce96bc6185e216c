"""The fields of Croissant's RAI extension: what only the producer knows, and what the figures say. Pure."""

from annotation.releases.documents import judged, measured, people
from annotation.releases.documents.facts import Facts


def fields(facts: Facts) -> dict:
    """Those that have something in them."""
    found = {**_collection(facts), **_annotation(facts), **_use(facts)}
    return {f"rai:{name}": value for name, value in found.items() if value}


def _collection(facts: Facts) -> dict:
    return {
        "dataCollection": facts.said("collection"),
        "dataCollectionType": ["Manual Human Curator"] if facts.people > facts.simulated else [],
        "dataCollectionMissingData": _missing(facts),
    }


def _missing(facts: Facts) -> str:
    counts = facts.manifest["counts"]
    if not counts["imported"]:
        return ""
    return f"Of {counts['imported']:,} items {counts['dropped']:,} were dropped, {counts['open']:,} are not decided."


def _annotation(facts: Facts) -> dict:
    simulated = f"{facts.simulated:,} simulated annotators" if facts.simulated else ""
    return {
        "dataAnnotationProtocol": [*judged.stages(facts), *filter(None, [facts.said("ethics")])],
        "dataAnnotationPlatform": list(filter(None, [f"Winnow {facts.manifest['version']}", facts.said("platform")])),
        "dataAnnotationAnalysis": [*judged.agreement_said(facts), *measured.sentences(facts)],
        "annotationsPerItem": judged.per_item(facts),
        "annotatorDemographics": [people.count(facts), *filter(None, [facts.said("demographics")])],
        "machineAnnotationTools": [simulated] if simulated else [],
    }


def _use(facts: Facts) -> dict:
    words = {"dataBiases": "biases", "dataUseCases": "use", "personalSensitiveInformation": "sensitive"}
    said = {field: [facts.said(word)] for field, word in words.items() if facts.said(word)}
    return said | {"dataLimitations": list(judged.limits(facts))}
