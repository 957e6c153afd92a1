"""What transformers makes of a few clips, and whether the exported graphs make the same of them."""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch

sys.path.append(str(Path(__file__).parent.parent / "common"))
from tones import RATE_HZ, make_clip  # noqa: E402

PER_FRAME_MAX = 10
# sherpa-onnx looks at the next frame after so many.
SHERPA_PER_FRAME_MAX = 5
LOGITS_TOLERANCE = 1e-3
DISTINCT_MIN = 12
# Every so many numbers are kept as a reference.
FEATURE_STEP = 1499
ENCODED_STEP = 47


def features_of(extractor, clip):
    """[1, bands, frames], without the frame that transformers masks."""
    features = extractor(clip.astype(np.float32) / 32768, sampling_rate=RATE_HZ, return_tensors="pt")
    frames = int(features["attention_mask"].sum())
    return features["input_features"][:, :frames].transpose(1, 2).contiguous()


def generate(model, features):
    """transformers' own greedy decoding: tokens, and the frame that each was said at."""
    config = model.config
    model.generation_config.decoder_start_token_id = config.blank_token_id
    model.generation_config.pad_token_id = config.blank_token_id
    said = model.generate(input_features=features.transpose(1, 2), max_new_tokens=8 * features.shape[2] + 20)
    tokens, durations = said.sequences[0].tolist(), said.durations[0].tolist()
    frames = np.cumsum([0, *durations[:-1]]).tolist()
    kept = [(token, frame) for token, frame in zip(tokens, frames, strict=True) if token != config.blank_token_id]
    return [token for token, _ in kept], [frame for _, frame in kept]


def limited(tokens, frames):
    """Whether no program's limit of tokens for one frame would have changed anything."""
    return all(frames.count(frame) < SHERPA_PER_FRAME_MAX for frame in set(frames)) and len(tokens) == len(frames)


def numbers_of(model):
    """What sherpa-onnx wants to know of a model; it knows the architecture by the address."""
    config = model.config
    return {
        "vocab_size": config.blank_token_id,
        "normalize_type": "per_feature",
        "pred_rnn_layers": config.num_decoder_layers,
        "pred_hidden": config.decoder_hidden_size,
        "subsampling_factor": config.encoder_config.subsampling_factor,
        "model_type": "EncDecRNNTBPEModel",
        "version": "2",
        "model_author": "NeMo",
        "url": "https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3",
        "comment": "Only the transducer branch is exported",
        "feat_dim": config.encoder_config.num_mel_bins,
    }


class Graphs:
    """The graphs in a folder, run as NeMo does: a new state for each token that is no blank."""

    def __init__(self, folder, layout, suffix):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        names = ["encoder-model", "decoder_joint-model"] if layout == "istupakov" else ["encoder", "decoder", "joiner"]
        self.sessions = [
            onnxruntime.InferenceSession(str(folder / f"{name}{suffix}.onnx"), options, providers=["CPUExecutionProvider"])
            for name in names
        ]

    def encode(self, features):
        """[1, width, frames]"""
        length = np.array([features.shape[2]], dtype=np.int64)
        return self.sessions[0].run(["outputs"], {"audio_signal": features, "length": length})[0]

    def joint(self, frame, token, states):
        """Logits of tokens and durations, and the next states."""
        target, one = np.array([[token]], dtype=np.int32), np.array([1], dtype=np.int32)
        if len(self.sessions) == 2:
            names = [value.name for value in self.sessions[1].get_inputs()]
            logits, _, *after = self.sessions[1].run(None, dict(zip(names, [frame, target, one, *states], strict=True)))
            return logits.ravel(), after
        names = [value.name for value in self.sessions[1].get_inputs()]
        text, _, *after = self.sessions[1].run(None, dict(zip(names, [target, one, *states], strict=True)))
        logits = self.sessions[2].run(None, {"encoder_outputs": frame, "decoder_outputs": text})[0]
        return logits.ravel(), after

    def decode(self, encoded, numbers, limit=PER_FRAME_MAX):
        """Greedy: tokens, the frame that each was said at, and the logits of each step. `numbers` are sherpa-onnx's."""
        blank = numbers["vocab_size"]
        state = np.zeros((numbers["pred_rnn_layers"], 1, numbers["pred_hidden"]), dtype=np.float32)
        states, last, at, here = [state, state], blank, 0, 0
        tokens, frames, steps = [], [], []
        while at < encoded.shape[2]:
            logits, after = self.joint(encoded[:, :, at : at + 1], last, states)
            steps.append(logits)
            token, duration = int(logits[: blank + 1].argmax()), int(logits[blank + 1 :].argmax())
            if token != blank:
                tokens.append(token)
                frames.append(at)
                states, last, here = after, token, here + 1
            if duration == 0 and (token == blank or here == limit):
                duration = 1
            at, here = at + duration, here if duration == 0 else 0
        return tokens, frames, steps


def compare(model, extractor, graphs, seconds):
    """Differences on clips of these lengths: of encoded frames at most, and how many clips have other tokens."""
    worst, others, distinct = 0.0, 0, set()
    for index, length in enumerate(seconds):
        features = features_of(extractor, make_clip(index, length))
        expected = model.encoder(features.transpose(1, 2)).last_hidden_state.transpose(1, 2).numpy()
        encoded = graphs.encode(features.numpy())
        worst = max(worst, float(np.abs(encoded - expected).max()))
        tokens, _, _ = graphs.decode(encoded, numbers_of(model))
        others += tokens != generate(model, features)[0]
        distinct |= set(tokens)
    return worst, others, len(distinct)


def random_is_usable(model, extractor, seconds):
    """Whether a random model says enough, and never more at one frame than programs let it."""
    said = set()
    for index, length in enumerate(seconds):
        tokens, frames = generate(model, features_of(extractor, make_clip(index, length)))
        if not limited(tokens, frames):
            return False
        said |= set(tokens)
    return len(said) >= DISTINCT_MIN


def cases(model, extractor, seconds):
    """What transformers makes of each clip: tokens, their frames and log probabilities, and every so many features and
    encoded values."""
    found = []
    for index, length in enumerate(seconds):
        features = features_of(extractor, make_clip(index, length))
        encoded = model.encoder(features.transpose(1, 2)).last_hidden_state.transpose(1, 2)
        tokens, frames = generate(model, features)
        found.append({
            "seconds": length,
            "tokens": tokens,
            "frames": frames,
            "logprobs": rounded(logprobs_of(model, encoded, tokens, frames)),
            "features": rounded(features.flatten()[::FEATURE_STEP].tolist()),
            "encoded": rounded(encoded.flatten()[::ENCODED_STEP].tolist()),
        })
    return {"featureStep": FEATURE_STEP, "encodedStep": ENCODED_STEP, "clips": found}


def logprobs_of(model, encoded, tokens, frames):
    """Of each token behind those before it, at its frame."""
    blank = model.config.blank_token_id
    text = model.decoder(torch.tensor([[blank, *tokens]]))
    heard = model.encoder_projector(encoded.transpose(1, 2))
    return [
        float(model.joint(text[:, at], heard[:, frame])[0, : blank + 1].log_softmax(-1)[token])
        for at, (token, frame) in enumerate(zip(tokens, frames, strict=True))
    ]


def rounded(numbers):
    return [float(f"{number:.7g}") for number in numbers]
