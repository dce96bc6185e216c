#!/usr/bin/env python3
"""Score a model on this release, and print the measures of its benchmark with 95 % intervals.

    python score.py --functions my_model.py
    python score.py --open-clip ViT-B-32-quickgelu:openai
    python score.py --transformers google/siglip2-base-patch16-224
    python score.py --predictions scores.jsonl

If the release asks questions with options (`scoring/questions.jsonl`), answers come in a table with the columns
`id,answer`, or one `score_OPTION` for each option, and `question` if an item has several; or as lines of JSON with
these keys. An answer is an option's name, its words or its letter.

    python score.py --predictions answers.csv

It needs Python 3.10 or later. Scores need numpy, and a model its own library; pyarrow too if the release has its images
in `data/` alone. my_model.py defines `embed_images(images)` and `embed_texts(texts)`, which return an array with a
vector for each and are compared by cosine; or `score(images, captions)`, which returns a number for each pair, higher
is better. Images are files' bytes if it sets `BYTES = True`, otherwise pictures of Pillow. A text encoder needs only
`embed_texts`. A model that reads only the beginning of long captions has `cut(text)` too: it returns the tokens that
are read of a caption that is too long, None of others. Items with such captions are counted; items with captions that
are the same in what is read are neither right nor wrong, but in the column `read alike`. Without `cut`, these items
cannot be told apart from ties, and count as wrong.

    def cut(text):
        return tokens[:77] if len(tokens := tokenizer.encode(text)) > 77 else None

A tied score is never right. How each item is decided is in manifest.json, under `evaluation`.
"""

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent


def load(name: str) -> ModuleType:
    """A module of `scoring/`, without leaving compiled files in the release, which would no longer be as it was made.

    The package has a name of its own, since another release in this process may measure by other modules.
    """
    package = f"scoring_{hashlib.sha256(bytes(HERE)).hexdigest()[:16]}"
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        if package not in sys.modules:
            spec = importlib.util.spec_from_file_location(package, HERE / "scoring" / "__init__.py")
            assert spec and spec.loader
            sys.modules[package] = importlib.util.module_from_spec(spec)
        return importlib.import_module(f"{package}.{name}")
    finally:
        sys.dont_write_bytecode = before


def main(given: list[str] | None = None) -> None:
    """Run the command with these arguments, by default those of this process."""
    load("command").main(given, __doc__, load)


if __name__ == "__main__":
    main()
