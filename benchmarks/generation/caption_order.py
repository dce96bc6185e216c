"""Orders for captions: what to make, with which model, and the estimated cost."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from django import forms
from django.conf import settings

from benchmarks.construction import prompts
from benchmarks.construction.prompts import KINDS, SECOND_POSITIVE, STEPS, CaptionKind
from benchmarks.imports import order as imports
from benchmarks.jobs import jobs, orders
from benchmarks.jobs.benchmark_work import refused
from benchmarks.models import Benchmark, Caption, Job
from benchmarks.records import Problem, Refused
from benchmarks.runs import model_answers
from workers.models import chat
from workers.models.model_name import classifier_name, local

KIND = "generate"
LONGEST_PROMPT = 20_000  # characters


@dataclass(frozen=True)
class CaptionOrder:
    """The captions to make, the model, and which results to keep. `temperature`: None for each kind's default."""

    name: str = orders.text(
        "Name of the new benchmark", "If the benchmark exists, the new items are added to it.", max_length=120
    )
    kinds: Sequence[str] = orders.described(
        forms.MultipleChoiceField(
            choices=[(name, name) for name in KINDS],
            widget=forms.CheckboxSelectMultiple,
            label="What to make",
            help_text=f"Can be repeated. {'; '.join(f'{name}: {kind.says}' for name, kind in KINDS.items())}",
        ),
        option="kind",
    )
    model: str = orders.model(
        "Model",
        "The model’s name at the endpoint. On this server: its name on the Hugging Face Hub, such as "
        "Qwen/Qwen2.5-7B-Instruct, or a folder in the server’s model folder.",
    )
    address: str = orders.text(
        "Where the model runs",
        "An endpoint's address up to the version, like https://HOST/v1. Leave empty for this server.",
        required=False,
    )
    temperature: float | None = orders.real(
        "Temperature", 0, 2, "If empty: 0 for swaps and second positives, 1 for everything else.", required=False
    )
    max_tokens: int = orders.whole("Longest answer, in tokens", 1, orders.MOST_TOKENS, initial=256)
    seed: int = orders.whole("Seed", 0, orders.MOST_SEED, initial=0)
    prompt: str = orders.text(
        "Your own prompt",
        "For one kind. Write `{caption}` where the caption goes. The answer must have the same lines as "
        "for Winnow’s prompt.",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        strip=False,
    )
    plausibility: str = orders.model(
        "Classifier of plausibility", "Optional: `liujch1998/vera`, another hub id, or a folder.", False
    )
    grammar: str = orders.model(
        "Classifier of grammar", "Optional: `textattack/roberta-base-CoLA`, another hub id, or a folder.", False
    )
    share: float = orders.real(
        "Best captions to keep, as a share", 0.0001, 1, "By the mean of both scores, with a classifier.", initial=0.35
    )
    refine: bool = orders.switch(
        "Adversarial refinement", "Afterwards each classifier prefers the positive caption only half of the time."
    )
    check: bool = orders.switch(
        "Check second positives",
        "Ask again whether each means the same, and use the correction if it does not (VISLA).",
    )
    three_steps: bool = orders.switch(
        "Ask in three steps",
        "For replaced and added words: what to change, what is new, and the caption are three questions, at "
        "temperatures of 0, 1.5 and 0 (SugarCrepe).",
    )
    format_captions: bool = orders.switch(
        "Format the captions", "So that capitals and full stops do not give generated captions away.", initial=True
    )
    input_price: float = orders.price("Price of a million tokens in prompts")
    output_price: float = orders.price("Price of a million tokens in answers")
    device: str = orders.device()
    parallel: int = orders.parallel()
    timeout: float = orders.timeout()

    @property
    def prices(self) -> tuple[float, float]:
        return self.input_price, self.output_price

    @property
    def chat_name(self) -> chat.ChatName:
        model = self.model if self.address else local(self.model, settings.MODELS)
        return chat.ChatName(model, self.address, self.device, self.parallel, self.timeout)

    def settings_of(self, kind: CaptionKind, step: int = 0) -> chat.Settings:
        """Return a question's settings; `step`: how many lines of the answer were asked for before."""
        temperature = kind.temperature if self.temperature is None else self.temperature
        if self.in_steps(kind) and (step != 1 or self.temperature is None):
            temperature = STEPS[step]
        return chat.Settings(temperature, self.max_tokens, self.seed)

    def in_steps(self, kind: CaptionKind) -> bool:
        return self.three_steps and kind.in_steps

    def template_of(self, kind: CaptionKind) -> str:
        return self.prompt or kind.template


def check_order(benchmark: Benchmark, order: CaptionOrder) -> CaptionOrder:
    """Return the order with its name as stored. Raises Refused, with one sentence, if it cannot be carried out."""
    name = imports.benchmark_name(order.name)
    if name == benchmark.name:
        raise _refused("NAME_TAKEN", "The result is a separate benchmark. Give it another name.")
    unknown = [kind for kind in order.kinds if kind not in KINDS]
    if unknown or not order.kinds:
        raise _refused("KIND_UNKNOWN", f"Choose what to make: {', '.join(KINDS)}.")
    if order.prompt:
        if len(order.kinds) > 1:
            raise _refused("PROMPT_WRONG", "Your own prompt can be used for only one kind of caption. Choose one kind.")
        if len(order.prompt) > LONGEST_PROMPT:
            raise _refused("PROMPT_WRONG", f"Use at most {LONGEST_PROMPT:,} characters.")
        try:
            prompts.checked_template(order.prompt)
        except prompts.PromptWrong as wrong:
            raise _refused("PROMPT_WRONG", str(wrong)) from wrong
    if order.refine and not (order.plausibility and order.grammar):
        raise _refused("REFINE_NEEDS_TWO", "The refinement needs both classifiers: plausibility and grammar.")
    with refused():
        chat.checked_name(order.chat_name)
        for given in filter(None, (order.plausibility, order.grammar)):
            classifier_name(given, settings.MODELS)
    return orders.checked(replace(order, name=name, kinds=list(dict.fromkeys(order.kinds))))


def _refused(code: str, advice: str) -> Refused:
    return Refused([Problem(code, "", None, "", advice)])


def queue_captions(*, benchmark: Benchmark, order: CaptionOrder, by: str, created_by=None, foreground=False) -> Job:
    """Create a job that makes captions. Raises Refused for invalid orders; the worker reports further problems."""
    order = check_order(benchmark, order)
    imports.refuse_others(order.name, created_by)
    params = {"benchmark": benchmark.pk, "order": asdict(order), "foreground": foreground, "by": by}
    title = f"Generate captions from {benchmark.name}"
    return jobs.queue_job(kind=KIND, title=title, params=params, by=by, created_by=created_by)


def estimated(order: CaptionOrder, asked: Iterable[tuple[CaptionKind, str]]) -> model_answers.Estimate:
    """Estimate the order; `asked`: the kind and the caption of each question."""
    count = prompt = 0
    completion = 0.0
    overheads = {name: _tokens(order.template_of(KINDS[name])) + _tokens(prompts.SYSTEM) for name in order.kinds}
    answers = {name: _typical_answer(KINDS[name]) for name in order.kinds}
    for kind, caption in asked:
        count += 1
        prompt += overheads[kind.name] + _tokens(caption)
        completion += answers[kind.name]
    usage = model_answers.Usage(prompt_tokens=prompt, completion_tokens=round(completion))
    return model_answers.estimate_of(count, usage, order.prices)


def estimate_for(benchmark: Benchmark, order: CaptionOrder) -> model_answers.Estimate:
    """Estimate before anything is asked, as if nothing had been answered yet. Reads only captions. Raises Refused for
    invalid orders."""
    order = check_order(benchmark, order)
    captions = Caption.objects.filter(item__benchmark=benchmark, role="positive", position=0).order_by()
    texts = captions.values_list("text", flat=True).distinct()
    kinds = [KINDS[name] for name in order.kinds]
    kinds += [kind for kind in kinds if order.check and kind.role == SECOND_POSITIVE]  # asked about twice
    kinds += 2 * [kind for kind in kinds if order.in_steps(kind)]
    return estimated(order, ((kind, text) for text in texts for kind in kinds if not kind.ineligible(text)))


def _tokens(text: str) -> int:
    return chat.estimated_tokens(text)


def _typical_answer(kind: CaptionKind) -> float:
    lengths = [_tokens("\n".join(kind.answer_lines(example))) for example in kind.examples]
    return sum(lengths) / len(lengths)
