"""Why a model cannot score, as one sentence with a code."""


class CannotScore(Exception):
    """`code` is stable; `advice` says in a sentence what is wrong and what to do."""

    def __init__(self, code: str, advice: str):
        self.code, self.advice = code, advice
        super().__init__(f"{code} · {advice}")
