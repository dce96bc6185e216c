"""Weights that contain code: refused in a sentence, and the code does not run."""

import ast
import zipfile
from pathlib import Path

import pytest

from tests.lazy import LazyModule
from workers.models import loading
from workers.models.model_name import parse_model
from workers.models.refusals import CannotScore

torch, torchscript = LazyModule("torch"), LazyModule("workers.models.torchscript")


class Evil:
    """Unpickled, it leaves a file."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def writing_module(mark: str):
    import torch  # TorchScript looks names up, and knows no lazy module

    class Writing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mark = mark

        def forward(self, images):
            return images

        @torch.jit.export
        def __getstate__(self):
            return self.mark, self.training

        @torch.jit.export
        def __setstate__(self, state: tuple[str, bool]) -> None:
            self.mark, self.training = state
            torch.from_file(state[0], True, 4).fill_(7.0)

    return Writing()


def like_torchscript(folder: Path, evil: Evil) -> tuple[str, str]:
    """An archive that has the names of a TorchScript one, in places where torch does not look for them."""
    torch.save(evil, folder / "whole.pt")
    with zipfile.ZipFile(folder / "whole.pt") as whole, zipfile.ZipFile(folder / "evil.pt", "w") as made:
        for name in whole.namelist():
            made.writestr(name, whole.read(name))
        for name in ("x/constants.pkl", "code/__torch__.py"):
            made.writestr(f"{whole.namelist()[0].partition('/')[0]}/{name}", b"")
    return "ViT-S-32-alt", str(folder / "evil.pt")


def as_torchscript(folder: Path, evil: Evil) -> tuple[str, str]:
    """An archive that torch takes for whole, and that writes a file while it is read."""
    torch.jit.save(torch.jit.script(writing_module(str(evil.mark))), folder / "evil.pt")
    return "ViT-B-32-quickgelu", str(folder / "evil.pt")


def as_checkpoint(folder: Path, evil: Evil) -> tuple[str, str]:
    torch.save({"state_dict": evil}, folder / "evil.pt")
    return "ViT-S-32-alt", str(folder / "evil.pt")


def as_transformers(folder: Path, evil: Evil) -> tuple[str, str]:
    from tests.builders.tiny_models import tiny_answering

    tiny_answering(folder / "model")
    (folder / "model" / "model.safetensors").unlink()
    torch.save({"weight": evil}, folder / "model" / "pytorch_model.bin")
    return f"vqa:{folder / 'model'}", ""


@pytest.mark.parametrize("disguised", [like_torchscript, as_torchscript, as_checkpoint, as_transformers])
def test_code_in_weights_is_not_run(tmp_path, disguised):
    mark = tmp_path / "ran"
    named = parse_model(*disguised(tmp_path, Evil(mark)), tmp_path)
    with pytest.raises(CannotScore, match="WEIGHTS_WRONG"):
        loading.load(named, "cpu")
    assert not mark.exists()


def test_nothing_is_loaded_with_its_code():
    """Said at every call: without it, the libraries ask at a terminal, and what they do elsewhere changes."""
    modules = [ast.parse(path.read_text()) for path in Path(loading.__file__).parent.glob("*.py")]
    loads = {"from_pretrained": "trust_remote_code", "SentenceTransformer": "trust_remote_code"}
    loads |= {"load": "weights_only", "create_model_from_pretrained": "weights_only"}  # of torch, of open_clip
    found = 0
    for call in (node for module in modules for node in ast.walk(module) if isinstance(node, ast.Call)):
        name, module = ast.unparse(call.func).rpartition(".")[::-2]
        if name not in loads or (name == "load" and module != "torch"):
            continue
        given = {word.arg: ast.unparse(word.value) for word in call.keywords}
        safe = "**SAFE" in ast.unparse(call) or given.get(loads[name]) == str(loads[name] == "weights_only")
        assert safe, ast.unparse(call)
        found += 1
    assert found > 12


def test_weights_of_a_torchscript_archive_are_those_that_torch_reads(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ModuleDict({"norm": torch.nn.BatchNorm1d(2)})["norm"])
    model.half().register_buffer("context_length", torch.tensor(77))
    for number, made in enumerate((torch.jit.script(model), torch.jit.trace(model.eval(), torch.ones(4, 3).half()))):
        torch.jit.save(made, tmp_path / f"{number}.pt")
        expected = torch.jit.load(tmp_path / f"{number}.pt").state_dict()
        found = torchscript.weights(tmp_path / f"{number}.pt")
        assert torchscript.is_archive(tmp_path / f"{number}.pt")
        assert {*expected} - {*found} == {"context_length"} and len(found) == len(expected) - 1 == 7
        assert all(torch.equal(found[name], expected[name]) for name in found)
