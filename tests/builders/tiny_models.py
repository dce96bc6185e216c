"""Small random models of kinds that read an image and a caption together, in the layouts of their own libraries."""

import json
from pathlib import Path

from tests.lazy import LazyModule

open_clip, torch, transformers = map(LazyModule, ("open_clip", "torch", "transformers"))

SAID = "A a red blue green cup 0 1 2 Yes yes No no Does this figure show Answer or"
WORDS = [*SAID.split(), ",", ".", "?", '"']


def tiny_tokenizer(*special: str):
    """A tokenizer of some words, those of questions among them."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {word: place for place, word in enumerate(["<unk>", "<pad>", "<s>", "</s>", *special, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        additional_special_tokens=list(special),
    )  # fmt: skip


def tiny_answering(folder: Path) -> Path:
    """A LLaVA of one layer a part, which answers with one of 25 words."""

    tokenizer = tiny_tokenizer("<image>")
    torch.manual_seed(0)
    sight = transformers.CLIPVisionConfig(
        hidden_size=8, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=16
    )
    speech = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=8, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, pad_token_id=1, bos_token_id=2, eos_token_id=3, initializer_range=1.0,
    )  # fmt: skip
    config = transformers.LlavaConfig(
        vision_config=sight, text_config=speech, image_token_index=4, vision_feature_layer=-1,
        vision_feature_select_strategy="default",
    )  # fmt: skip
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    seen = transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    transformers.LlavaProcessor(
        seen, tokenizer, patch_size=16, vision_feature_select_strategy="default", num_additional_image_tokens=1
    ).save_pretrained(folder)
    return folder


def tiny_matching(folder: Path, image_size: int = 32, **sight: int) -> Path:
    """A BLIP of one layer a part with a head for image-text matching. `sight`: sizes of a larger image tower."""
    tokenizer = tiny_tokenizer()
    small = {"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(0)
    read = transformers.BlipTextConfig(
        vocab_size=len(tokenizer), encoder_hidden_size=(small | sight)["hidden_size"], projection_dim=8,
        max_position_embeddings=64, initializer_range=1.0, **small,
    )  # fmt: skip
    seen = transformers.BlipVisionConfig(image_size=image_size, patch_size=16, **small | sight)
    config = transformers.BlipConfig(text_config=read.to_dict(), vision_config=seen.to_dict(), image_text_hidden_size=8)
    transformers.BlipForImageTextRetrieval(config).save_pretrained(folder)
    images = transformers.BlipImageProcessor(size={"height": image_size, "width": image_size})
    transformers.BlipProcessor(images, tokenizer).save_pretrained(folder)
    return folder


SIGLIP = {
    "context_length": 64, "hf_tokenizer_name": "timm/ViT-B-16-SigLIP2", "tokenizer_kwargs": {"clean": "canonicalize"},
    "no_causal_mask": True, "proj_bias": True, "pool_type": "last", "norm_kwargs": {"eps": 1e-6},
    "act_kwargs": {"approximate": "tanh"},
}  # fmt: skip
SMALL = {"width": 16, "heads": 2, "layers": 1}
TOWERS = {  # open_clip's own configurations, with less in them; of PE-Core the smallest image tower is whole
    "SigLIP2": {
        "embed_dim": 64, "init_logit_bias": -10, "custom_text": True,
        "vision_cfg": {"image_size": 160, "timm_model_name": "test_vit", "timm_pool": "map", "timm_proj": "none"},
        "text_cfg": {**SIGLIP, **SMALL, "vocab_size": 40},
    },
    "PE-Core": {
        "embed_dim": 16, "custom_text": True,
        "vision_cfg": {
            "image_size": 384, "timm_model_name": "vit_pe_core_tiny_patch16_384", "timm_pool": "map", "timm_proj": None,
        },
        "text_cfg": {"context_length": 32, "vocab_size": 49408, **SMALL},
    },
}  # fmt: skip
SQUASHED = {"mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bicubic", "resize_mode": "squash"}


def with_towers(folder: Path, config: dict) -> str:
    """The `--model` of fixed random weights of this configuration of open_clip, as safetensors."""
    from safetensors.torch import save_file

    folder.mkdir()
    written = {"model_cfg": config, "preprocess_cfg": {"size": config["vision_cfg"]["image_size"], **SQUASHED}}
    (folder / "open_clip_config.json").write_text(json.dumps(written))
    torch.manual_seed(0)
    model = open_clip.CustomTextCLIP(**{name: part for name, part in config.items() if name != "custom_text"})
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    if "hf_tokenizer_name" in config["text_cfg"]:
        tiny_tokenizer().save_pretrained(folder)
    return f"local-dir:{folder}"


def tiny_pipeline(folder: Path) -> Path:
    """A Stable Diffusion of one block a part, which draws 8 × 8 pixels."""
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline

    tokenizer = tiny_tokenizer()
    tokenizer.model_max_length = 16
    torch.manual_seed(0)
    read = transformers.CLIPTextConfig(
        vocab_size=len(tokenizer), hidden_size=8, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=16, bos_token_id=2, eos_token_id=3, pad_token_id=1,
    )  # fmt: skip
    kept = {"block_out_channels": (8,), "norm_num_groups": 4, "layers_per_block": 1, "sample_size": 8}
    seen = AutoencoderKL(down_block_types=("DownEncoderBlock2D",), up_block_types=("UpDecoderBlock2D",), **kept)
    StableDiffusionPipeline(
        vae=seen, text_encoder=transformers.CLIPTextModel(read), tokenizer=tokenizer, unet=tiny_unet(),
        scheduler=DDIMScheduler(clip_sample=False, steps_offset=1), safety_checker=None, feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)  # fmt: skip
    return folder


def tiny_unet():
    """Its denoising network, with weights by torch's present seed."""
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        sample_size=8, block_out_channels=(8,), layers_per_block=1, norm_num_groups=4, cross_attention_dim=8,
        attention_head_dim=4, down_block_types=("CrossAttnDownBlock2D",), up_block_types=("CrossAttnUpBlock2D",),
    )  # fmt: skip


CHAT = (
    "{% for said in messages %}<s>{% for part in said['content'] %}{% if part['type'] == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endfor %}</s>"
)


def tiny_chatting(folder: Path) -> Path:
    """A Qwen2-VL of one layer a part, which has a form of conversation, and images of as many tokens as they need."""
    tokenizer = tiny_tokenizer("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    names = ("vision_start_token_id", "vision_end_token_id", "image_token_id", "video_token_id")
    ids = dict(zip(names, range(4, 8), strict=True))
    torch.manual_seed(0)
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    speech = {
        "vocab_size": len(tokenizer), "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 2, "rope_parameters": rope, "initializer_range": 1.0,
        "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 1,
    }  # fmt: skip
    sight = {"depth": 1, "embed_dim": 16, "hidden_size": 16, "num_heads": 2, "mlp_ratio": 1, "patch_size": 14}
    config = transformers.Qwen2VLConfig(text_config=speech, vision_config=sight, **ids)
    transformers.Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
    images = transformers.Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=4 * 28 * 28)
    videos = transformers.Qwen2VLVideoProcessor()
    transformers.Qwen2VLProcessor(images, tokenizer, videos, chat_template=CHAT).save_pretrained(folder)
    return folder
