"""Tokenizers: that of a checkpoint, and one for random models that is built as Qwen's is."""

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import AutoTokenizer

AUDIO_PAD = "<|audio_pad|>"
TIMESTAMP = "<timestamp>"
ENDS = ["<|im_end|>", "<|endoftext|>"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|audio_start|>", "<|audio_end|>", AUDIO_PAD]
# These are kept when special tokens are left out of a text.
NOT_SPECIAL = ["<asr_text>", TIMESTAMP]
# BCP-47, and the names that the model writes: LANGUAGE_CODE_TO_NAME of transformers' processing_qwen3_asr.py.
LANGUAGES = dict(zip(
    "ar yue zh cs da nl en fil fi fr de el hi hu id it ja ko mk ms fa pl pt ro ru es sv th tr vi".split(),
    (
        "Arabic Cantonese Chinese Czech Danish Dutch English Filipino Finnish French German Greek Hindi Hungarian "
        "Indonesian Italian Japanese Korean Macedonian Malay Persian Polish Portuguese Romanian Russian Spanish "
        "Swedish Thai Turkish Vietnamese"
    ).split(),
    strict=True,
))
# Qwen2Tokenizer of transformers.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Words that a random model's tokenizer has as a whole; each of them is made of its beginnings.
WORDS = ["system", "user", "assistant", "language", " English", " German", " None", " the", " of", " hello", " call"]
SPACE = "\u0120"


def read_tokenizer(folder):
    """The tokenizer of a checkpoint, as tokenizer.json has it."""
    return AutoTokenizer.from_pretrained(folder, local_files_only=True).backend_tokenizer


def random_tokenizer():
    """Bytes, a few words, and the special tokens behind them."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary, merges = {letter: index for index, letter in enumerate(letters)}, []
    for word in WORDS:
        word = word.replace(" ", SPACE)
        for end in range(2, len(word) + 1):
            if word[:end] not in vocabulary:
                vocabulary[word[:end]] = len(vocabulary)
                merges.append((word[: end - 1], word[end - 1]))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(SPLIT), behavior="isolated", invert=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, normalized=False, special=False) for token in NOT_SPECIAL])
    return tokenizer


def identity_of(tokenizer, token):
    """@raises SystemExit when a tokenizer has no such token."""
    identity = tokenizer.token_to_id(token)
    if identity is None:
        raise SystemExit(f"the tokenizer has no token {token}, expected that of Qwen3-ASR")
    return identity


def prompt_of(tokenizer, features, context="", language=None):
    """Token ids of a reading: the system turn, the audio's places, and the beginning of the answer."""
    text = (
        f"<|im_start|>system\n{context}<|im_end|>\n<|im_start|>user\n<|audio_start|>{AUDIO_PAD * features}<|audio_end|>"
        "<|im_end|>\n<|im_start|>assistant\n"
    )
    text += "" if language is None else f"language {language}<asr_text>"
    return tokenizer.encode(text, add_special_tokens=False).ids
