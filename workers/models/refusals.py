"""Reasons why a model cannot score, each a sentence with a code."""


class CannotScore(Exception):
    """`code` is stable; `advice` is a sentence with the problem and its remedy."""

    def __init__(self, code: str, advice: str):
        self.code, self.advice = code, advice
        super().__init__(f"{code} · {advice}")
