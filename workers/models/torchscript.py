"""Weights from a TorchScript archive, the format in which OpenAI first published CLIP, without running its code.

torch itself reads such an archive only as a program, which may open and write files. This reads only its tensors:
`data.pkl` describes a tree of modules, each file below `data/` has the bytes of one tensor, and a module's code lists
the tensors that are its weights.
"""

import pickle
import re
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch._utils import _rebuild_tensor_v2

SETTINGS = {"input_resolution", "context_length", "vocab_size"}  # additional values in OpenAI's archives
TYPES = {name: kind for kind, name in torch.storage._dtype_to_storage_type_map().items() if not name.startswith("Q")}


def is_archive(path: Path) -> bool:
    """Return whether it is one, by the names that torch checks."""
    with suppress(OSError, zipfile.BadZipFile):
        if path.is_file() and zipfile.is_zipfile(path):
            names = zipfile.ZipFile(path).namelist()
            root = _root(names)
            return f"{root}/constants.pkl" in names and any(name.startswith(f"{root}/code/") for name in names)
    return False


def weights(path: Path) -> dict[str, torch.Tensor]:
    """Return parameters and buffers by dotted name. Raises pickle.UnpicklingError for anything else inside."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = _tensors(_Reader(archive, _root(archive.namelist())).load(), "")
            return {name: tensor for name, tensor in found if name not in SETTINGS}
    except (ArithmeticError, AttributeError, EOFError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise pickle.UnpicklingError(f"Weights only load failed: {error}") from error


def _root(names: list[str]) -> str:
    return names[0].partition("/")[0] if names else ""


class _Module:
    """A module, with its state from the archive as attributes. `weights`: the names of parameters and buffers."""

    weights: frozenset[str]


def _tensors(module: _Module, prefix: str) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in vars(module).items():
        if isinstance(value, torch.Tensor) and name in module.weights:
            yield prefix + name, value
        elif isinstance(value, _Module):
            yield from _tensors(value, f"{prefix}{name}.")


class _Reader(pickle.Unpickler):
    """Unpickles tensors and modules, and nothing that could run code."""

    def __init__(self, archive: zipfile.ZipFile, root: str):
        super().__init__(archive.open(f"{root}/data.pkl"))
        self.archive, self.root = archive, root
        self.classes: dict[tuple[str, str], type] = {}
        self.storages: dict[str, torch.storage.TypedStorage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("__torch__"):
            if (module, name) not in self.classes:
                self.classes[module, name] = type("Module", (_Module,), {"weights": self.listed(module, name)})
            return self.classes[module, name]
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda *parts: _rebuild_tensor_v2(*parts)  # a pickle may modify what it is given
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch.jit._pickle" and name.startswith("build_"):
            return list
        if module == "torch" and name in TYPES:
            return TYPES[name]
        raise pickle.UnpicklingError(f"Weights only load failed: {module}.{name} does not belong to weights")

    def listed(self, module: str, name: str) -> frozenset[str]:
        """Return a class's parameters and buffers, from its code: other tensors are constants."""
        code = self.archive.read(f"{self.root}/code/{module.replace('.', '/')}.py").decode()
        found = re.search(rf"^class {re.escape(name)}\(Module\):((?:\n  __\w+__ = \[.*\])*)", code, re.MULTILINE)
        return frozenset(re.findall(r'"([^"]+)"', found[1] if found else ""))

    def persistent_load(self, pid: Any) -> torch.storage.TypedStorage:
        _, kind, key, _, count = pid
        if key not in self.storages:
            entry = self.archive.getinfo(f"{self.root}/data/{key}")
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != count * kind.itemsize:
                raise pickle.UnpicklingError("Weights only load failed: a tensor has the wrong number of bytes")
            stored = torch.frombuffer(bytearray(self.archive.read(entry)), dtype=torch.uint8).untyped_storage()
            self.storages[key] = torch.storage.TypedStorage(wrap_storage=stored, dtype=kind, _internal=True)
        return self.storages[key]
