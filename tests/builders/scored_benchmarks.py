"""What tests of scoring share: small random models that real libraries load, and small benchmarks to score."""

import json
from pathlib import Path

import numpy as np
from django.utils import timezone

from benchmarks.construction.image_order import GRIDS
from benchmarks.construction.order import SHUFFLES
from benchmarks.jobs import jobs
from benchmarks.metrics.retrieval import MEASURES
from benchmarks.models import Benchmark, Job, Run
from benchmarks.scoring import score
from tests.builders import imports
from tests.lazy import LazyModule

open_clip, torch = LazyModule("open_clip"), LazyModule("torch")

TINY = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 64, "heads": 1, "layers": 1},
}


def tiny_clip(folder: Path) -> str:
    """A folder of open_clip's own layout with fixed random weights; returns the `--model` that names it."""
    folder.mkdir(parents=True)
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": TINY, "preprocess_cfg": {}}))
    torch.manual_seed(0)
    torch.save(open_clip.CLIP(**TINY).state_dict(), folder / "open_clip_pytorch_model.bin")
    return f"local-dir:{folder}"


def tiny_language(folder: Path) -> str:
    """A GPT-2 of one layer with a tokenizer of ten words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = ["<unk>", "<s>", "a", "A", "red", "blue", "cup", ",", ".", "green"]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(words), n_positions=64, n_embd=16, n_layer=1, n_head=2, bos_token_id=1)
    GPT2LMHeadModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", unk_token="<unk>").save_pretrained(folder)
    return f"language-model:{folder}"


def tiny_writer(folder: Path) -> Path:
    """A GPT-2 of one layer, as `tiny_language`, with a chat template and an end of text."""
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    tiny_language(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=10, n_positions=64, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=8)
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def tiny_classifier(folder: Path, labels: int = 2, seed: int = 0) -> Path:
    """A BERT of one layer with a head of that many labels, and the tokenizer of `tiny_language`."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    tiny_language(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"pad_token": "<s>"})
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=10, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        num_labels=labels, initializer_range=1.0,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def tiny_vera(folder: Path) -> Path:
    """A T5 encoder of one layer with Vera's vocabulary, and the tokenizer of `tiny_language`."""
    from transformers import T5Config, T5EncoderModel

    tiny_language(folder)
    torch.manual_seed(0)
    config = T5Config(vocab_size=32_128, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    T5EncoderModel(config).save_pretrained(folder)
    return folder


def tiny_sentence_encoder(folder: Path) -> Path:
    """A BERT of one layer whose tokens are letters, in the layout of sentence-transformers; mean pooling."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    letters = [chr(code) for code in range(33, 127)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "bert").mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertModel(config).save_pretrained(folder / "bert")
    words = Transformer(str(folder / "bert"), max_seq_length=128)
    SentenceTransformer(modules=[words, Pooling(config.hidden_size)], device="cpu").save(str(folder / "encoder"))
    return folder / "encoder"


def cups(folder: Path, count: int = 3, start: int = 0, name: str = "Cups") -> Benchmark:
    """Items with two captions and two images, both roles; called again with another `start` it adds items."""
    items = []
    for number in range(start, start + count):
        images = [{"role": role, "file": f"{number}-{role}.jpg"} for role in ("positive", "negative")]
        items.append(imports.item(number, images=images))
    names = [image["file"] for item in items for image in item["images"]]
    files = {file: imports.jpeg(2 * start + number, (40, 30)) for number, file in enumerate(names)}
    return imports.benchmark_of(folder, items, files, name)


def queued(benchmark: Benchmark, model: str, pretrained: str = "", device: str = "cpu") -> Job:
    return score.queue_score(benchmark=benchmark, order=score.ScoreOrder(model, pretrained, device), by="test")


def run(job: Job) -> Job:
    return jobs.run(job_id=job.pk, by="test", work=score.Scoring.do)


def scored(benchmark: Benchmark, model: str, pretrained: str = "") -> Run:
    job = run(queued(benchmark, model, pretrained))
    assert job.state == "done", job.problems
    return Run.objects.get(pk=job.report["run"])


def retrieved(benchmark: Benchmark, title: str = "ViT · openai") -> Job:
    """A finished job of perturbed retrieval, with the same figures under every condition."""
    cells = {name: {"mean": 0.5, "sd": 0.125} for name in MEASURES}
    conditions = [("", ""), *(("text", name) for name in SHUFFLES), *(("image", name) for name in GRIDS)]
    rows = [{"of": of, "name": name, "measures": cells} for of, name in conditions]
    report = {"benchmark": benchmark.pk, "model": title, "fingerprint": title, "precision": "float32", "device": "cpu"}
    report |= {"encoded": {"images": 3, "captions": 4}, "images": 3, "captions": 4, "seeds": 2, "rows": rows}
    facts = {"title": "Perturbed retrieval", "params": {"benchmark": benchmark.pk}, "finished_at": timezone.now()}
    return Job.objects.create(kind="retrieval", state="done", report=report, **facts)


def ordered(benchmark: Benchmark, title: str) -> Job:
    """A finished job of order tasks, with the accuracy of CLIP on COCO in ARO's Table 5."""
    report = {"benchmark": benchmark.pk, "model": title, "fingerprint": title, "precision": "float32", "device": "cpu"}
    report |= {"encoded": {"images": 3, "captions": 60}, "images": 3, "captions": 4, "left_out": 1, "seeds": 5}
    report |= {"rows": [{"name": "all", "n": 4, "mean": 0.46, "sd": 0.001}]}
    facts = {"title": "Order tasks", "params": {"benchmark": benchmark.pk}, "finished_at": timezone.now()}
    return Job.objects.create(kind="order-tasks", state="done", report=report, **facts)


def column(run: Run, name: str) -> dict[str, float]:
    """Scores of that name by the items' keys."""
    return dict(run.predictions.filter(question=name).order_by("item").values_list("item__key", "score"))


def unit(vectors: "torch.Tensor") -> np.ndarray:
    return torch.nn.functional.normalize(vectors, dim=-1).numpy()
