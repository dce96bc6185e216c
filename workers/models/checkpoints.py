"""Loading transformers models."""

from typing import Any

import torch

from workers.models.refusals import CannotScore


def checked(model_class, name: str, title: str, dtype: torch.dtype | str = torch.float32, **more) -> Any:
    """Load a transformers model with all of its weights, none of its code. Raises CannotScore: WEIGHTS_WRONG.

    transformers only warns about weights missing from the checkpoint, and initialises them at random.
    """
    model, found = model_class.from_pretrained(
        name, dtype=dtype, trust_remote_code=False, output_loading_info=True, **more
    )
    if lacking := sorted(found["missing_keys"]):
        advice = f"the checkpoint lacks {len(lacking):,} of the model's weights, such as {lacking[0]}."
        raise CannotScore("WEIGHTS_WRONG", f"“{title}” is incomplete or of another architecture: {advice}")
    return model.eval()
