"""The model to be exported: a local checkpoint of transformers, or one of random weights in a true shape."""

import torch
from transformers import MoonshineStreamingConfig, MoonshineStreamingForConditionalGeneration

# Encoder width, inner width, layers, heads, head size; decoder width, inner width, layers, heads; tokens; positions.
# Those of tiny are the defaults of transformers, the others follow from the sizes of the published files.
SHAPES = {
    "fixture": (16, 32, 4, 4, 4, 24, 48, 2, 4, 160, 1504),
    "tiny": (320, 1280, 6, 8, 40, 320, 1280, 6, 8, 32768, 4096),
    "small": (620, 2480, 10, 8, 64, 512, 2048, 10, 8, 32768, 4096),
    "medium": (768, 3072, 14, 10, 64, 640, 2560, 14, 10, 32768, 4096),
}

# How far random weights are spread: enough that the text of the fixture depends on the sound, as it does in a trained
# model. In the true shapes only the embeddings are: texts then have no loops, and drafts hold, as those of trained ones.
SPREAD = 0.25
EMBEDDING_SPREAD = 0.9


def windows(layers: int) -> list[list[int]]:
    """Frames that each encoder layer sees to the left (itself included) and to the right: the outer layers see ahead."""
    outer = 2 if layers >= 6 else 1
    return [[16, 4]] * outer + [[16, 0]] * (layers - 2 * outer) + [[16, 4]] * outer


def random_model(shape: str, seed: int, positions: int | None = None) -> MoonshineStreamingForConditionalGeneration:
    """A model of the named shape. The same seed gives the same weights."""
    width, inner, layers, heads, head_size, d_width, d_inner, d_layers, d_heads, tokens, rows = SHAPES[shape]
    config = MoonshineStreamingConfig(
        vocab_size=tokens,
        hidden_size=d_width,
        intermediate_size=d_inner,
        num_hidden_layers=d_layers,
        num_attention_heads=d_heads,
        num_key_value_heads=d_heads,
        decoder_start_token_id=1,
        max_position_embeddings=rows,
        encoder_config={
            "hidden_size": width,
            "intermediate_size": inner,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": heads,
            "head_dim": head_size,
            "sliding_windows": windows(layers),
        },
    )
    torch.manual_seed(seed)
    model = MoonshineStreamingForConditionalGeneration._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "embed_tokens" in name:
                weights.normal_(0, EMBEDDING_SPREAD)
            elif shape == "fixture" and weights.dim() > 1:
                weights.normal_(0, SPREAD)
    return cut_positions(model, positions)


def load_model(folder: str) -> MoonshineStreamingForConditionalGeneration:
    """The checkpoint in a local folder, as `save_pretrained` or a download of it leaves it."""
    model = MoonshineStreamingForConditionalGeneration.from_pretrained(
        folder, local_files_only=True, attn_implementation="eager", dtype=torch.float32
    )
    return model.eval()


def cut_positions(model, positions: int | None):
    """Keeps the first `positions` rows of the table of positions: shorter sound needs no more."""
    if positions is not None:
        table = model.model.decoder.pos_emb
        table.weight = torch.nn.Parameter(table.weight[:positions].clone())
    return model


def head_size(config) -> int:
    """Numbers of each head of the decoder."""
    return config.head_dim


def lookahead(config) -> int:
    """Frames behind which an encoded frame cannot change any more: at least 16, as in the published files."""
    reach = sum(max(0, right - 1) for _, right in config.encoder_config.sliding_windows)
    return max(16, -(-reach // 4) * 4)
