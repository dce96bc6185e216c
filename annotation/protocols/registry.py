"""The protocols that a stage can ask. A new one is one file here, one template, one test and one line below."""

from annotation.protocols import bivlc_choose
from annotation.protocols.base import Protocol

PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in (bivlc_choose.PROTOCOL,)}
