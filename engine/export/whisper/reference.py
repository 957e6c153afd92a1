"""What transformers makes of a clip, and whether exported graphs make the same of it."""

import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from transformers import WhisperFeatureExtractor
from transformers.generation.logits_process import (
    LogitsProcessorList,
    SuppressTokensAtBeginLogitsProcessor,
    SuppressTokensLogitsProcessor,
)
from transformers.models.whisper.generation_whisper import _dynamic_time_warping, _median_filter

import graphs

sys.path.append(str(Path(__file__).parent.parent / "moonshine-streaming"))
from clips import RATE_HZ, clip  # noqa: E402

# Silence behind the speech, as engine/models/whisper/ adds it, and samples of one position.
SILENCE_SAMPLES = RATE_HZ
POSITION_SAMPLES = 320
POSITIONS_MAX = 1500
# As many tokens as engine/models/ lets people say in English, and in any language.
TOKENS_PER_SECOND, TOKENS_PER_SECOND_ANY, TOKENS_SPARE = 6.5, 13, 2
MEDIAN_WIDTH = 7
LOGITS_TOLERANCE = 1e-3


def positions_of(samples):
    """Positions of a window with the speech and a second more."""
    return min(POSITIONS_MAX, -(-(samples + SILENCE_SAMPLES) // POSITION_SAMPLES))


def tokens_max(samples, per_second=TOKENS_PER_SECOND):
    return int(np.ceil(samples / RATE_HZ * per_second)) + TOKENS_SPARE


def features_of(model, sound, positions):
    """[1, bands, frames]"""
    extractor = WhisperFeatureExtractor(feature_size=model.config.num_mel_bins)
    window = np.zeros(positions * POSITION_SAMPLES, np.float32)
    window[: len(sound)] = sound.astype(np.float32) / 32_768
    features = extractor(window, sampling_rate=RATE_HZ, return_tensors="pt", padding="longest", truncation=False)
    return features["input_features"]


@contextmanager
def windowed(model, positions):
    """transformers' encoder takes 30 s and nothing else: this makes it one of a shorter window."""
    encoder, table = model.model.encoder, model.model.encoder.embed_positions
    whole = model.config.max_source_positions
    encoder.embed_positions = torch.nn.Embedding.from_pretrained(table.weight[:positions])
    model.config.max_source_positions = encoder.max_source_positions = positions
    try:
        yield model
    finally:
        encoder.embed_positions = table
        model.config.max_source_positions = encoder.max_source_positions = whole


class Reader:
    """Greedy decoding by transformers' forward pass and its own rules, so that logits are known."""

    def __init__(self, model, positions, features):
        self.model, self.positions = model, positions
        with windowed(model, positions):
            self.hidden = model.model.encoder(features).last_hidden_state

    def logits(self, tokens, attentions=False):
        out = self.model(
            encoder_outputs=(self.hidden,), decoder_input_ids=torch.tensor([tokens]), output_attentions=attentions
        )
        return (out.logits[0], out.cross_attentions) if attentions else out.logits[0]

    def read(self, prompt, limit):
        """Tokens behind `prompt`, the logarithm of the probability of each, and by how much the closest won."""
        rules, end = self.rules(len(prompt)), self.model.config.eos_token_id
        tokens, logprobs, gap, past = list(prompt), [], np.inf, None
        while len(tokens) < len(prompt) + limit:
            added = torch.tensor([tokens if past is None else tokens[-1:]])
            out = self.model(
                encoder_outputs=(self.hidden,), decoder_input_ids=added, past_key_values=past, use_cache=True
            )
            past = out.past_key_values
            scores = rules(torch.tensor([tokens]), out.logits[:, -1].clone())[0]
            best = scores.topk(2)
            gap = min(gap, float(best.values[0] - best.values[1]))
            if int(best.indices[0]) == end:
                break
            tokens.append(int(best.indices[0]))
            logprobs.append(float(scores.log_softmax(-1)[tokens[-1]]))
        return tokens[len(prompt) :], logprobs, gap

    def rules(self, begin):
        first = self.model.generation_config.begin_suppress_tokens
        return LogitsProcessorList([
            SuppressTokensLogitsProcessor(suppressed(self.model)), SuppressTokensAtBeginLogitsProcessor(first, begin),
        ])

    def token_positions(self, prompt, tokens, speech_positions):
        """Where each token begins and the last one ends, as OpenAI's Whisper aligns them (whisper/timing.py)."""
        _, attentions = self.logits([*prompt, *tokens, self.model.config.eos_token_id], attentions=True)
        heads = self.model.generation_config.alignment_heads
        weights = torch.stack([attentions[layer][0, head] for layer, head in heads])[..., :speech_positions]
        deviation, mean = torch.std_mean(weights, dim=-2, keepdim=True, unbiased=False)
        matrix = _median_filter((weights - mean) / deviation, MEDIAN_WIDTH).mean(0)[len(prompt) - 1 : -1]
        text, time = _dynamic_time_warping(-matrix.double().numpy())
        return time[np.pad(np.diff(text), (1, 0), constant_values=1).astype(bool)].tolist()


def ids_of(vocabulary):
    return {token["content"]: token["id"] for token in vocabulary["added_tokens"]}


def prompt_of(ids, language="en"):
    words = ["startoftranscript", language, "transcribe", "notimestamps"]
    return [ids[f"<|{word}|>"] for word in words]


def language_of(reader, ids, languages):
    """The likeliest behind the start token, and by how much."""
    scores = reader.logits([ids["<|startoftranscript|>"]])[-1]
    ordered = sorted(languages, key=lambda language: -float(scores[ids[f"<|{language}|>"]]))
    first, second = (float(scores[ids[f"<|{language}|>"]]) for language in ordered[:2])
    return ordered[0], first - second


def suppressed(model):
    """What is never said. A text without times has none: random models would say them."""
    end = model.config.eos_token_id
    return sorted({*model.generation_config.suppress_tokens, *range(end + 1, model.config.vocab_size)})


def generated(model, positions, features, limit, language):
    """What `generate` itself says."""
    with windowed(model, positions):
        said = model.generate(
            input_features=features, max_new_tokens=limit, language=language, task="transcribe",
            return_timestamps=False, suppress_tokens=suppressed(model),
        )
    return [token for token in said[0].tolist() if token < model.config.eos_token_id]


class Graphs:
    """Our two graphs, run as engine/models/whisper/ runs them."""

    def __init__(self, folder, config):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.encoder, self.decoder = (
            onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
            for name in ("encoder_cross", "decoder_step")
        )
        self.layers, self.heads = config.decoder_layers, config.decoder_attention_heads
        self.size = config.d_model // self.heads

    def logits(self, features, tokens):
        """Behind each of `tokens`."""
        names = graphs.past_names(self.layers, "encoder")
        speech = dict(zip(names, self.encoder.run(None, {"input_features": features}), strict=True))
        none = np.zeros((1, self.heads, 0, self.size), np.float32)
        past = {name: none for name in graphs.past_names(self.layers, "decoder")}
        return self.decoder.run(["logits"], {"input_ids": np.array([tokens]), **past, **speech})[0][0]


def check(model, folder, prompt, seconds, is_exact):
    """Runs clips through our graphs; what is wrong with them, one line each."""
    files, problems = Graphs(folder, model.config), []
    for seed, length in enumerate(seconds):
        sound = clip(seed + 1, int(length * RATE_HZ))
        positions = positions_of(len(sound))
        features = features_of(model, sound, positions)
        reader = Reader(model, positions, features)
        tokens, _, _ = reader.read(prompt, min(tokens_max(len(sound)), 24))
        expected = reader.logits([*prompt, *tokens]).numpy()
        logits = files.logits(features.numpy(), [*prompt, *tokens])
        worst, likeness = np.abs(logits - expected).max(), np.corrcoef(logits.ravel(), expected.ravel())[0, 1]
        print(f"{length} s: logits differ by {worst:.1e} and correlate {likeness:.5f}, "
              f"{len(set(tokens))} different tokens")
        if is_exact and worst > LOGITS_TOLERANCE:
            problems.append(f"{length} s: expected logits to {LOGITS_TOLERANCE}")
        if not likeness > 0.9:
            problems.append(f"{length} s: expected logits that correlate over 0.9")
    return problems
