"""Compares the files of a folder with transformers, clip by clip."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from clips import RATE_HZ, clip, waveform

TOKENS_PER_SECOND = 6.5
TOKENS_SPARE = 2


def tokens_max(samples: int) -> int:
    """As engine/models/moonshine-streaming/ limits a text: people do not speak faster."""
    return -(-samples * 13 // (2 * RATE_HZ)) + TOKENS_SPARE


@dataclass
class Reference:
    """What transformers makes of a clip."""

    features: np.ndarray
    memory: np.ndarray
    logits: np.ndarray
    tokens: list[int]


def refer(model, sound: np.ndarray) -> Reference:
    """Greedy decoding step by step, so that the logits of each position are known."""
    inputs = torch.from_numpy(waveform(sound))
    mask = torch.ones_like(inputs, dtype=torch.long)
    core = model.model
    with torch.no_grad():
        features = core.encoder.embedder(inputs, padding_mask=mask)[0]
        encoded = core.encoder(inputs, attention_mask=mask).last_hidden_state
        decoder = core.decoder
        memory = decoder.proj(encoded + decoder.pos_emb(torch.arange(encoded.shape[1])))
        longest = tokens_max(len(sound))
        tokens = model.generate(input_values=inputs, attention_mask=mask, max_new_tokens=longest, do_sample=False)
        said = tokens[0].tolist()[1:]
        text = torch.tensor([[1, *said]])
        logits = model(input_values=inputs, attention_mask=mask, decoder_input_ids=text).logits[0]
    return Reference(features[0].numpy(), memory[0].numpy(), logits.numpy(), said)


class Files:
    """The graphs of a folder, run by onnxruntime."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.suffix = ".ort" if (folder / "encoder.ort").exists() else ".onnx"
        split = (folder / f"frontend.weights{self.suffix}").exists()
        self.frontend = self.open("frontend.model" if split else "frontend")
        self.weights = {}
        if split:
            graph = self.open("frontend.weights")
            self.weights = dict(zip((output.name for output in graph.get_outputs()), graph.run(None, {})))
        self.encoder, self.adapter = self.open("encoder"), self.open("adapter")
        self.cross, self.decoder = self.open("cross_kv"), self.open("decoder_kv")

    def open(self, name: str):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        path = self.folder / f"{name}{self.suffix}"
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(self, sound: np.ndarray, said: list[int]):
        """Features, memory, and the logits behind each token of `said`."""
        shapes = {value.name: value.shape for value in self.frontend.get_inputs()}
        states = {
            "sample_buffer": np.zeros((1, 79), np.float32),
            "sample_len": np.zeros(1, np.int64),
            "conv1_buffer": np.zeros(shapes["conv1_buffer"], np.float32),
            "conv2_buffer": np.zeros(shapes["conv2_buffer"], np.float32),
            "frame_count": np.zeros(1, np.int64),
        }
        features = self.frontend.run(["features"], {"audio_chunk": waveform(sound), **states, **self.weights})[0]
        encoded = self.encoder.run(None, {"features": features})[0]
        memory = self.adapter.run(None, {"encoded": encoded, "pos_offset": np.zeros(1, np.int64)})[0]
        keys, values = self.cross.run(None, {"memory": memory})
        past = np.zeros((*keys.shape[:3], 0, keys.shape[4]), np.float32)
        logits = self.decoder.run(["logits"], {
            "token": np.array([[1, *said]]), "k_self": past, "v_self": past, "out_k_cross": keys, "out_v_cross": values,
        })[0]
        return features[0], memory[0], logits[0]


def check(model, folder: Path, int8: bool) -> list[str]:
    """Runs three clips through the files; what is wrong with them, one line each."""
    files, problems = Files(folder), []
    for seed, seconds in enumerate((0.6, 2.5, 6)):
        sound = clip(seed + 1, int(seconds * RATE_HZ))
        expected = refer(model, sound)
        features, memory, logits = files.run(sound, expected.tokens)
        agreeing = (logits.argmax(1)[: len(expected.tokens)] == expected.tokens).mean()
        off = {
            "features": np.abs(features - expected.features).max(),
            "memory": np.abs(memory - expected.memory).max(),
            "logits": np.abs(logits - expected.logits).max(),
        }
        figures = ", ".join(f"{name} {value:.1e}" for name, value in off.items())
        print(f"{seconds} s: greatest differences: {figures}; {agreeing:.0%} of {len(expected.tokens)} tokens agree")
        if int8:
            likeness = np.corrcoef(logits.ravel(), expected.logits.ravel())[0, 1]
            if not likeness > 0.9:
                problems.append(f"{seconds} s: logits correlate {likeness:.3f} with those in float, expected over 0.9")
        elif off["features"] > 1e-4 or off["memory"] > 1e-3 or off["logits"] > 1e-3 or agreeing < 1:
            problems.append(f"{seconds} s: expected features to 1e-4, memory and logits to 1e-3, and equal tokens")
    return problems
