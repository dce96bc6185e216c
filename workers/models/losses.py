"""The presets' losses, from vectors of length 1. `scale` multiplies every cosine (CLIP's learned temperature).

Row i of `images`, `texts`, `negatives` … belongs to the batch's pair i. Every loss is a mean over the batch.
"""

import torch
from torch.nn import functional


def info_nce(images: torch.Tensor, texts: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """CLIP's loss: each image chooses its text and each text its image among those of the batch."""
    return with_negative_texts(images, texts, texts[:0], scale)


def with_negative_texts(
    images: torch.Tensor, texts: torch.Tensor, negatives: torch.Tensor, scale: torch.Tensor
) -> torch.Tensor:
    """Return NegCLIP's loss: images choose among all texts and negatives (any number); negatives do not choose."""
    own = torch.arange(len(images), device=images.device)
    of_images = scale * images @ torch.cat([texts, negatives]).T
    of_texts = scale * texts @ images.T
    return (functional.cross_entropy(of_images, own) + functional.cross_entropy(of_texts, own)) / 2


def with_negative_pairs(
    images: torch.Tensor, texts: torch.Tensor, negative_images: torch.Tensor, negatives: torch.Tensor,
    scale: torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    """Return TROHN-Img's loss: the negative captions and their images are further pairs of the batch."""
    return info_nce(torch.cat([images, negative_images]), torch.cat([texts, negatives]), scale)


def hard_negative(
    images: torch.Tensor, texts: torch.Tensor, negatives: torch.Tensor, scale: torch.Tensor
) -> torch.Tensor:
    """Return the loss of each image's choice between its own text and its own negative."""
    scores = scale * torch.stack([(images * texts).sum(-1), (images * negatives).sum(-1)], dim=1)
    return functional.cross_entropy(scores, torch.zeros(len(images), dtype=torch.long, device=images.device))


def hard_positive(
    images: torch.Tensor, texts: torch.Tensor, positives: torch.Tensor, scale: torch.Tensor
) -> torch.Tensor:
    """Return SVLC's analogy loss: each image and text chooses its own hard positive among those of the batch."""
    own = torch.arange(len(images), device=images.device)
    of_images, of_texts = scale * images @ positives.T, scale * texts @ positives.T
    return (functional.cross_entropy(of_images, own) + functional.cross_entropy(of_texts, own)) / 2


def detector(logits: torch.Tensor, synthetic: torch.Tensor) -> torch.Tensor:
    """Return binary cross-entropy for a sigmoid neuron's inputs: 1 for generated, 0 for natural."""
    return functional.binary_cross_entropy_with_logits(logits, synthetic)
