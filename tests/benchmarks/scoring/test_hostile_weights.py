"""Weights that contain code: refused in a sentence, and the code does not run."""

import zipfile
from pathlib import Path

import pytest

from tests.lazy import LazyModule
from workers.models import encoder
from workers.models.model_name import parse_model
from workers.models.refusals import CannotScore

torch = LazyModule("torch")


class Evil:
    """Unpickled, it leaves a file."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def like_torchscript(folder: Path, evil: Evil) -> tuple[str, str]:
    """An archive that has the names of a TorchScript one, in places where torch does not look for them."""
    torch.save(evil, folder / "whole.pt")
    with zipfile.ZipFile(folder / "whole.pt") as whole, zipfile.ZipFile(folder / "evil.pt", "w") as made:
        for name in whole.namelist():
            made.writestr(name, whole.read(name))
        for name in ("x/constants.pkl", "code/__torch__.py"):
            made.writestr(f"{whole.namelist()[0].partition('/')[0]}/{name}", b"")
    return "ViT-S-32-alt", str(folder / "evil.pt")


def as_checkpoint(folder: Path, evil: Evil) -> tuple[str, str]:
    torch.save({"state_dict": evil}, folder / "evil.pt")
    return "ViT-S-32-alt", str(folder / "evil.pt")


def as_transformers(folder: Path, evil: Evil) -> tuple[str, str]:
    from tests.builders.tiny_models import tiny_answering

    tiny_answering(folder / "model")
    (folder / "model" / "model.safetensors").unlink()
    torch.save({"weight": evil}, folder / "model" / "pytorch_model.bin")
    return f"vqa:{folder / 'model'}", ""


@pytest.mark.parametrize("disguised", [like_torchscript, as_checkpoint, as_transformers])
def test_code_in_weights_is_not_run(tmp_path, disguised):
    mark = tmp_path / "ran"
    named = parse_model(*disguised(tmp_path, Evil(mark)))
    with pytest.raises(CannotScore, match="WEIGHTS_WRONG"):
        encoder.load(named, "cpu")
    assert not mark.exists()
