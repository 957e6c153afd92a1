"""A model to export: a checkpoint of Hugging Face in a local folder, or random weights."""

import itertools
import json
from pathlib import Path

import torch
from reference import features_of, make_clip
from transformers import ParakeetFeatureExtractor, ParakeetForTDT, ParakeetTDTConfig

BLANK = "<blk>"
SPACE = "\u2581"
# What is behind the tokens: logits of a random model stay below every token's, for transformers takes the largest of
# all of them for the token.
DURATION_SHIFT = -50

TINY = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "subsampling_conv_channels": 8}
TRUE = {"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 8, "subsampling_conv_channels": 256}
TINY_TOKENS = 60
TRUE_TOKENS = 8192


def read_checkpoint(folder):
    """The model, its feature extractor and the pieces of its tokens, without the blank."""
    model = ParakeetForTDT.from_pretrained(folder, local_files_only=True, attn_implementation="eager")
    extractor = ParakeetFeatureExtractor.from_pretrained(folder, local_files_only=True)
    return frozen(model), extractor, read_pieces(Path(folder), model.config.blank_token_id)


def read_pieces(folder, count):
    """Pieces in the order of their ids, from tokenizer.json."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    by_id = dict(enumerate(piece for piece, _ in vocabulary)) if isinstance(vocabulary, list) else {}
    if not by_id:
        by_id = {identity: piece for piece, identity in vocabulary.items()}
    by_id |= {token["id"]: token["content"] for token in tokenizer.get("added_tokens", [])}
    missing = [identity for identity in range(count) if identity not in by_id]
    if missing:
        raise SystemExit(f"tokenizer.json has no token {missing[0]}, expected 0 to {count - 1}")
    return [by_id[identity] for identity in range(count)]


def random_model(shape, layers, seed):
    """A model of the true architecture with random weights. Tiny ones say many different tokens."""
    torch.manual_seed(seed)
    is_tiny = shape == "tiny"
    tokens = TINY_TOKENS if is_tiny else TRUE_TOKENS
    encoder = dict(TINY if is_tiny else TRUE, num_mel_bins=128, num_hidden_layers=layers, scale_input=False)
    config = ParakeetTDTConfig(
        vocab_size=tokens + 1,
        blank_token_id=tokens,
        decoder_hidden_size=32 if is_tiny else 640,
        encoder_config=dict(encoder, attention_bias=False, convolution_bias=False),
    )
    model = ParakeetForTDT._from_config(config, attn_implementation="eager")
    extractor = ParakeetFeatureExtractor(feature_size=128)
    model.eval()
    with torch.no_grad():
        if is_tiny:
            spread(model, tokens)
            centre(model, features_of(extractor, make_clip(0, 4)))
        else:
            fix_rate(model, tokens)
        model.joint.head.bias[tokens + 1 :] += DURATION_SHIFT
    return frozen(model), extractor, random_pieces(tokens)


def spread(model, blank):
    """Weights so large that what is heard and what was said both change what comes next."""
    for name, weights in model.named_parameters():
        if weights.dim() > 1:
            is_wide = any(part in name for part in ("embedding", "projector", "head"))
            weights.normal_(0, 1.0 if is_wide else 0.2)
    model.joint.head.bias[blank] += 2.0
    # Random models stay at a frame for ever, which transformers lets them.
    model.joint.head.bias[blank + 1] -= 5.0


def fix_rate(model, blank):
    """Makes a model say a token every 3 frames, 4.2 in a second, about as many as people say: it is there to be timed."""
    model.joint.head.bias[7] += 30
    model.joint.head.bias[blank + 1 + 3] += 30


def centre(model, features):
    """Takes out what all frames have in common, so that each of them says something of its own."""
    frames = model.encoder_projector(model.encoder(features.transpose(1, 2)).last_hidden_state)
    model.encoder_projector.weight *= 3 / frames.std(dim=1, keepdim=False)[0, :, None]
    frames = model.encoder_projector(model.encoder(features.transpose(1, 2)).last_hidden_state)
    model.encoder_projector.bias -= frames.mean(dim=(0, 1))


def random_pieces(count):
    """As SentencePiece orders them: merged pairs first, each of pieces that there are, and single characters last."""
    letters = "abcdefghijklmnopqr" if count < 100 else "abcdefghijklmnopqrstuvwxyz"
    singles = [SPACE, *letters]
    starts = [SPACE + letter for letter in letters]
    pairs = [first + second for step in range(len(letters)) for first, second in zip(letters, roll(letters, step))]
    longer = (start + pair for start in starts for pair in pairs)
    merged = [*starts, *pairs, *itertools.islice(longer, max(0, count))]
    return ["<unk>", *merged[: count - 1 - len(singles)], *singles]


def roll(letters, by):
    return letters[by:] + letters[:by]


def frozen(model):
    """In float32, for inference."""
    return model.float().eval().requires_grad_(False)
