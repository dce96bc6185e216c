"""The rule that decides the tasks of a stage, from its settings."""

from annotation.protocols.base import Protocol
from annotation.protocols.decision_rule import DAWID_SKENE, MAJORITY, Rule
from annotation.protocols.declared import schema
from annotation.protocols.declared.rule import DeclaredRule


def rule_for(protocol: Protocol, overlap: int, tie_rule: str, cap: int | None = None, rule: str = MAJORITY) -> Rule:
    """That of the protocol's file if it decides, otherwise the stage's own settings."""
    return (DeclaredRule if protocol.file else Rule)(protocol, overlap, tie_rule, cap, rule)


def declared_settings(file: schema.ProtocolFile) -> dict[str, object]:
    """The settings of a stage that its protocol's file decides."""
    estimates = any(isinstance(rule, schema.DawidSkene) for rule in file.decide)
    chosen = (reference.partition(".")[2] for reference in file.carry if reference.startswith("images."))
    return {
        "overlap": file.judgments,
        "rule": DAWID_SKENE if estimates else MAJORITY,
        "carries": next(chosen, ""),
    }
