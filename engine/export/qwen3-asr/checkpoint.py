"""A model to export: a checkpoint of Hugging Face in a local folder, or random weights."""

import json

import torch
from transformers import Qwen3ASRConfig, Qwen3ASRForConditionalGeneration, Qwen3ASRForTokenClassification

import vocabulary

TEXT = {"model_type": "qwen3", "rms_norm_eps": 1e-6, "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1_000_000.0}}
ROOMS = {"num_mel_bins": 128, "n_window": 50, "n_window_infer": 800, "max_position_embeddings": 13}
# Encoder: width, layers, heads, feed-forward, channels.
# Language: width, feed-forward, heads, heads of keys and values, head size, layers.
SHAPES = {
    "tiny": ((32, 2, 4, 64, 8), (48, 96, 4, 2, 16, 2)),
    "0.6b": ((896, 18, 14, 3584, 480), (1024, 3072, 16, 8, 128, 28)),
    "1.7b": ((1024, 24, 16, 4096, 480), (2048, 6144, 16, 8, 128, 28)),
    "tiny-aligner": ((32, 1, 4, 64, 8), (32, 64, 4, 2, 16, 2)),
    "aligner": ((1024, 24, 16, 4096, 480), (1024, 3072, 16, 8, 128, 28)),
}
TRUE_TOKENS = 151_936
TRUE_CLASSES = 5000
TINY_CLASSES = 50


# The names of weights as Qwen publishes them, and as transformers has them.
PUBLISHED = {
    r"^thinker\.audio_tower\.proj1\.": "model.multi_modal_projector.linear_1.",
    r"^thinker\.audio_tower\.proj2\.": "model.multi_modal_projector.linear_2.",
    r"^thinker\.audio_tower\.": "model.audio_tower.",
    r"^thinker\.model\.": "model.language_model.",
}


def read_checkpoint(folder, is_aligner=False):
    """The model in the numbers that its file has, and its tokenizer. Sizes are those of its config.json. Reads what
    transformers writes, and what Qwen publishes."""
    kind = Qwen3ASRForTokenClassification if is_aligner else Qwen3ASRForConditionalGeneration
    written = json.loads((folder / "config.json").read_text("utf-8"))
    how = {"local_files_only": True, "dtype": "auto", "attn_implementation": "eager"}
    if "thinker_config" in written:
        head = "score." if is_aligner else "lm_head."
        how["key_mapping"] = PUBLISHED | {r"^thinker\.lm_head\.": head}
        how["config"] = published_config(written["thinker_config"], is_aligner)
    model, found = kind.from_pretrained(folder, output_loading_info=True, **how)
    wrong = [*found["missing_keys"], *found["unexpected_keys"], *found["mismatched_keys"]]
    if wrong:
        first = sorted(map(str, wrong))[0]
        raise SystemExit(f"{folder}: {len(wrong)} weights are missing or not known, the first is {first}")
    if model.config.audio_config.activation_function != "gelu" or model.config.text_config.hidden_act != "silu":
        raise SystemExit(f"{folder}: got other activation functions, expected gelu and silu")
    return frozen(model), vocabulary.read_tokenizer(folder)


def published_config(thinker, is_aligner):
    """What transformers would make of the config that Qwen publishes."""
    audio = {key: value for key, value in thinker["audio_config"].items() if key in AUDIO_KEYS}
    text = {key: value for key, value in thinker["text_config"].items() if key in TEXT_KEYS}
    theta = thinker["text_config"].get("rope_theta", 1_000_000.0)
    text["rope_parameters"] = {"rope_type": "default", "rope_theta": theta}
    known = {key: thinker[key] for key in ("audio_token_id", "timestamp_token_id") if key in thinker}
    tied = text.get("tie_word_embeddings", not is_aligner)
    config = Qwen3ASRConfig(audio_config=dict(audio, max_position_embeddings=13), text_config=text,
                            tie_word_embeddings=tied, **known)
    if is_aligner:
        config.num_labels = thinker["classify_num"]
    return config


AUDIO_KEYS = ("num_mel_bins", "encoder_layers", "encoder_attention_heads", "encoder_ffn_dim", "d_model", "n_window",
              "n_window_infer", "output_dim", "downsample_hidden_size", "activation_function")
TEXT_KEYS = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
             "num_key_value_heads", "head_dim", "rms_norm_eps", "tie_word_embeddings", "hidden_act",
             "max_position_embeddings", "attention_bias")


def random_config(shape, layers, tokenizer):
    """The true architecture in a size; its special tokens are those of `tokenizer`."""
    encoder, language = SHAPES[shape]
    is_tiny = shape.startswith("tiny")
    width, deep, heads, inner, channels = encoder
    audio = dict(ROOMS, model_type="qwen3_asr_encoder", d_model=width, encoder_layers=min(deep, layers or deep),
                 encoder_attention_heads=heads, encoder_ffn_dim=inner, downsample_hidden_size=channels)
    width, inner, heads, few, size, deep = language
    text = dict(TEXT, hidden_size=width, intermediate_size=inner, num_attention_heads=heads, num_key_value_heads=few,
                head_dim=size, num_hidden_layers=min(deep, layers or deep), max_position_embeddings=65_536,
                vocab_size=tokenizer.get_vocab_size() if is_tiny else TRUE_TOKENS)
    identity = lambda token: vocabulary.identity_of(tokenizer, token)
    ends = [identity(token) for token in vocabulary.ENDS]
    config = Qwen3ASRConfig(audio_config=dict(audio, output_dim=width), text_config=text, eos_token_id=ends,
                            audio_token_id=identity(vocabulary.AUDIO_PAD), pad_token_id=ends[0],
                            timestamp_token_id=identity(vocabulary.TIMESTAMP))
    if shape.endswith("aligner"):
        config.num_labels = TINY_CLASSES if is_tiny else TRUE_CLASSES
    return config


def random_model(shape, layers, seed):
    """A model with random weights. Tiny ones say many different tokens."""
    torch.manual_seed(seed)
    tokenizer = vocabulary.random_tokenizer()
    config = random_config(shape, layers, tokenizer)
    kind = Qwen3ASRForTokenClassification if shape.endswith("aligner") else Qwen3ASRForConditionalGeneration
    is_tiny = shape.startswith("tiny")
    # Large ones take the memory of a published checkpoint, whose weights have 16 bits.
    model = kind._from_config(config, attn_implementation="eager", dtype=torch.float32 if is_tiny else torch.bfloat16)
    if is_tiny:
        with torch.no_grad():
            spread(model, config)
    return frozen(model), tokenizer


def spread(model, config):
    """Weights so large that what is heard and what was said both change what comes next."""
    for name, weights in model.named_parameters():
        if weights.dim() > 1:
            weights.normal_(0, 0.25 if "conv2d" in name else 1.4 / weights.shape[-1] ** 0.5)
        elif "norm" in name and name.endswith("weight"):
            weights.uniform_(0.7, 1.3)
        elif name.endswith("bias"):
            weights.normal_(0, 0.05)
    language = model.model.language_model
    for layer in language.layers:
        layer.self_attn.o_proj.weight *= 2
        layer.mlp.down_proj.weight *= 2
        # What is attended to depends on what was said.
        layer.self_attn.q_norm.weight *= 3
    # A token's own embedding counts little for what comes next, or it would come again.
    language.embed_tokens.weight.normal_(0, 0.1)
    language.norm.weight *= 10
    model.model.multi_modal_projector.linear_2.weight *= 2
    # Random models would hardly ever end.
    language.embed_tokens.weight[config.eos_token_id[0]] *= 1.3


def frozen(model):
    """For inference."""
    return model.eval().requires_grad_(False)
