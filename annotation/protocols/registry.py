"""The protocols that a stage can ask. A new one is one file here, one template, one test and one line below."""

from annotation.protocols import (
    bivlc_choose,
    bivlc_disambiguate,
    bivlc_i2t,
    bivlc_t2i,
    hard_positive_rank,
    sugarcrepe_compare,
    verify,
    visla_paraphrase,
    visla_triplet,
)
from annotation.protocols.base import Protocol

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        bivlc_choose.PROTOCOL,
        bivlc_disambiguate.PROTOCOL,
        bivlc_i2t.PROTOCOL,
        bivlc_t2i.PROTOCOL,
        verify.PROTOCOL,
        visla_paraphrase.PROTOCOL,
        visla_triplet.PROTOCOL,
        hard_positive_rank.PROTOCOL,
        sugarcrepe_compare.PROTOCOL,
    )
}
