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
    module.PROTOCOL.name: module.PROTOCOL
    for module in (
        bivlc_choose, bivlc_disambiguate, bivlc_i2t, bivlc_t2i, verify, visla_paraphrase, visla_triplet,
        hard_positive_rank, sugarcrepe_compare,
    )
}  # fmt: skip
