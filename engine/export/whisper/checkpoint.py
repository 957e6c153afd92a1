"""A model to export: a checkpoint of Hugging Face in a local folder, or random weights in a true or a tiny shape."""

import json
import shutil
from pathlib import Path

import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration
from transformers.models.whisper.tokenization_whisper import LANGUAGES

# Width, layers and heads of both halves, bands of the features, and the languages of the vocabulary.
SHAPES = {
    "tiny": (384, 4, 6, 80, 99),
    "base": (512, 6, 8, 80, 99),
    "small": (768, 12, 12, 80, 99),
    "medium": (1024, 24, 16, 80, 99),
    "large-v3": (1280, 32, 20, 128, 100),
    "large-v3-turbo": (1280, 32, 20, 128, 100),
}
TURBO_LAYERS = 4
FIXTURE_LANGUAGES = ["en", "de", "zh", "jw"]
# 20 ms each, up to 1 s: with all 30 s the table of tokens would be most of a tiny model.
FIXTURE_TIMES = 51
TIMES = 1501
TEXT_TOKENS = 50_257
COPIED = ("config.json", "generation_config.json", "tokenizer.json", "vocab.json", "merges.txt", "added_tokens.json")
WORDS = ["Ġka", "Ġlo", "mi", "tu", "Ġne", "ra", "Ġso", "vi", "Ġbe", "do", "fi", "Ġga", "hu", "Ġje", "pa", "ze"]


def read_checkpoint(folder):
    """The model, in float32."""
    model = WhisperForConditionalGeneration.from_pretrained(
        folder, local_files_only=True, attn_implementation="eager", dtype=torch.float32
    )
    return model.eval().requires_grad_(False)


def copy_texts(folder, out):
    """What says the numbers and the tokens of a checkpoint."""
    for name in COPIED:
        if (Path(folder) / name).exists():
            shutil.copy(Path(folder) / name, out / name)


def byte_letters():
    """What GPT-2's vocabularies write for each byte."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + index) for index in range(len(others))]


def random_vocabulary(is_fixture, languages):
    """tokenizer.json of a vocabulary that was never learnt, in the order of the published ones."""
    letters = byte_letters()
    # Each word of two letters, or a space with the first one and then the second.
    of_word = lambda word: [tuple(word)] if len(word) == 2 else [(word[0], word[1]), (word[:2], word[2])]
    merges = [pair for word in WORDS for pair in of_word(word)]
    merges = list(dict.fromkeys(merges))
    pieces = [*letters, *("".join(pair) for pair in merges)]
    if not is_fixture:
        pieces += [f"Ġw{number}" for number in range(TEXT_TOKENS - len(pieces))]
    times = FIXTURE_TIMES if is_fixture else TIMES
    control = [
        "<|endoftext|>", "<|startoftranscript|>", *(f"<|{language}|>" for language in languages), "<|translate|>",
        "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>",
    ]
    added = [*control, *(f"<|{0.02 * index:.2f}|>" for index in range(times))]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": len(pieces) + index, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": index < len(control)}
            for index, content in enumerate(added)
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
            "vocab": {piece: index for index, piece in enumerate(pieces)},
            "merges": [" ".join(pair) for pair in merges],
        },
    }


def random_model(shape, seed):
    """A model of the true architecture with random weights, and its tokenizer.json."""
    is_fixture = shape == "fixture"
    languages = FIXTURE_LANGUAGES if is_fixture else list(LANGUAGES)[: SHAPES[shape][4]]
    vocabulary = random_vocabulary(is_fixture, languages)
    ids = {token["content"]: token["id"] for token in vocabulary["added_tokens"]}
    width, layers, heads, bands, _ = (16, 2, 2, 80, 0) if is_fixture else SHAPES[shape]
    end = ids["<|endoftext|>"]
    config = WhisperConfig(
        vocab_size=len(vocabulary["model"]["vocab"]) + len(ids), d_model=width, num_mel_bins=bands,
        encoder_layers=layers, decoder_layers=TURBO_LAYERS if shape.endswith("turbo") else layers,
        encoder_attention_heads=heads, decoder_attention_heads=heads,
        encoder_ffn_dim=(2 if is_fixture else 4) * width, decoder_ffn_dim=(2 if is_fixture else 4) * width,
        max_source_positions=1500, max_target_positions=448,
        bos_token_id=end, eos_token_id=end, pad_token_id=end, decoder_start_token_id=ids["<|startoftranscript|>"],
    )
    torch.manual_seed(seed)
    model = WhisperForConditionalGeneration._from_config(config, attn_implementation="eager").eval()
    generation = model.generation_config
    numbers = dict(
        is_multilingual=True, max_length=448, no_timestamps_token_id=ids["<|notimestamps|>"],
        lang_to_id={f"<|{language}|>": ids[f"<|{language}|>"] for language in languages},
        task_to_id={task: ids[f"<|{task}|>"] for task in ("transcribe", "translate")},
        suppress_tokens=[*unreadable(vocabulary), *(ids[f"<|{name}|>"] for name in
                         ("translate", "transcribe", "startoflm", "startofprev", "nospeech"))],
        begin_suppress_tokens=[vocabulary["model"]["vocab"]["Ġ"], end],
        alignment_heads=[[layer, head] for layer in range(config.decoder_layers // 2, config.decoder_layers)
                         for head in range(min(heads, 4))][:8],
        max_initial_timestamp_index=50, prev_sot_token_id=ids["<|startofprev|>"],
    )
    for name, value in numbers.items():
        setattr(generation, name, value)
    with torch.no_grad():
        (spread if is_fixture else follow_positions)(model)
    return model.float().requires_grad_(False), vocabulary


def unreadable(vocabulary):
    """Single bytes but letters and digits: a random model would say halves of characters, and spaces alone."""
    pieces = vocabulary["model"]["vocab"].items()
    return [token for piece, token in pieces if len(piece) == 1 and not (piece.isascii() and piece.isalnum())]


def spread(model):
    """Weights so large that what is heard, what was said and how long it is all change what comes next. The rows of the
    tokens are equally long: they are the head's, too, and the longest ones would be said all the time."""
    for name, weights in model.named_parameters():
        if weights.dim() > 1 and "encoder.embed_positions" not in name:
            weights.normal_(0, 1.0 if "embed" in name else 0.6)
    table = model.model.decoder.embed_tokens.weight
    table.mul_(1.5 / table.norm(dim=1, keepdim=True))


def follow_positions(model):
    """Makes a model say another token at each place and never end: it is there to be timed."""
    model.model.decoder.embed_positions.weight.normal_(0, 1)
    model.model.decoder.embed_tokens.weight.normal_(0, 0.05)


def write_texts(model, vocabulary, out):
    """config.json, generation_config.json and tokenizer.json of a random model."""
    model.config.save_pretrained(out)
    model.generation_config.save_pretrained(out)
    (out / "tokenizer.json").write_text(json.dumps(vocabulary, ensure_ascii=False) + "\n", encoding="utf-8")
