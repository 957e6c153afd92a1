"""What transformers makes of a few clips, and what the exported graphs make of them."""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from transformers.models.qwen3_asr.feature_extraction_qwen3_asr import Qwen3ASRFeatureExtractor

from encoder import chunk_tokens
from vocabulary import prompt_of

sys.path.append(str(Path(__file__).parent.parent / "common"))
from tones import RATE_HZ, make_clip  # noqa: E402

CHUNK_FRAMES = 100
WINDOW_CHUNKS = 8
SELF_TEST_SECONDS = (0.7, 3.3, 9.1)
SELF_TEST_TOKENS = 16
TOLERANCE = 1e-3
NAMES = ("encoder", "decoder_loop")
EXTRACTOR = Qwen3ASRFeatureExtractor()


def features_of(clip):
    """Log-mel frames padded to whole chunks [1, 128, C*100], and which of them are sound [1, C*100]."""
    found = EXTRACTOR(clip.astype(np.float32) / 32768, sampling_rate=RATE_HZ, padding=True, truncation=False,
                      return_attention_mask=True, return_tensors="pt")
    return found["input_features"], found["attention_mask"]


def tokens_of(frames):
    """How many tokens so many frames give."""
    rest = frames % CHUNK_FRAMES
    return frames // CHUNK_FRAMES * chunk_tokens(CHUNK_FRAMES) + (chunk_tokens(rest) if rest > 0 else 0)


def ends_of(config):
    """The tokens that end an answer."""
    ends = config.eos_token_id
    return [ends] if isinstance(ends, int) else list(ends)


def audio_of(model, features, mask):
    """[N, H]"""
    return model.get_audio_features(features, mask).pooler_output


def generate(model, prompt, features, mask, count):
    """transformers' own greedy decoding: tokens with the end token, the log probability of each, and the least
    difference between a token's logit and the next one's."""
    prompt = torch.tensor([prompt])
    ends = ends_of(model.config)
    found = model.generate(
        input_ids=prompt, input_features=features, input_features_mask=mask, attention_mask=torch.ones_like(prompt),
        max_new_tokens=count, do_sample=False, eos_token_id=ends, pad_token_id=ends[0], return_dict_in_generate=True,
        output_logits=True,
    )
    tokens = found.sequences[0, prompt.shape[1] :].tolist()
    steps = torch.cat(found.logits)[: len(tokens)].float()
    logprobs = steps.log_softmax(-1)[torch.arange(len(tokens)), tokens].tolist()
    best = steps.topk(2).values
    return tokens, logprobs, float((best[:, 0] - best[:, 1]).min())


def open_graph(path, threads=0):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def encode(encoder, clips):
    """Features of several clips in one run, [N, H]; `clips` are those of features_of()."""
    tokens, windows, before, number = [], [], 0, 0
    for features, mask in clips:
        chunks, count = features.shape[2] // CHUNK_FRAMES, tokens_of(int(mask.sum()))
        at = np.arange(count)
        tokens.append(before + at)
        windows.append(number + at // (WINDOW_CHUNKS * chunk_tokens(CHUNK_FRAMES)))
        before, number = before + chunks * chunk_tokens(CHUNK_FRAMES), int(windows[-1][-1]) + 1
    return encoder.run(None, {
        "mel": np.concatenate([features[0].numpy() for features, _ in clips], axis=1),
        "tokens": np.concatenate(tokens), "windows": np.concatenate(windows),
    })[0]


class Graphs:
    """The graphs in a folder."""

    def __init__(self, folder, threads=0):
        self.encoder, self.decoder = (open_graph(folder / f"{name}.onnx", threads) for name in NAMES)
        cache = {value.name: value for value in self.decoder.get_inputs()}["past_keys"]
        self.real = np.float16 if "16" in cache.type else np.float32
        self.cache = cache.shape

    def encode(self, clips):
        return encode(self.encoder, clips)

    def decode(self, rows, audio, count, ends, past=None):
        """One run; `rows` are (prompt, draft) pairs."""
        prompts, drafts = [prompt for prompt, _ in rows], [draft for _, draft in rows]
        width, longest = max(map(len, prompts)), max(map(len, drafts))
        shape = (len(rows), longest)
        if past is None:
            layers, _, heads, _, size = self.cache
            past = [np.zeros((layers, len(rows), heads, 0, size), self.real)] * 2
        names = [value.name for value in self.decoder.get_outputs()]
        found = self.decoder.run(None, {
            "prompt_ids": np.array([[0] * (width - len(each)) + each for each in prompts], np.int64),
            "pads": np.array([width - len(each) for each in prompts], np.int64),
            "draft_ids": np.array([each + [0] * (longest - len(each)) for each in drafts], np.int64).reshape(shape),
            "draft_lengths": np.array([len(each) for each in drafts], np.int64),
            "audio_features": audio.astype(self.real), "past_keys": past[0], "past_values": past[1],
            "max_new_tokens": np.array(count, np.int64), "eos_ids": np.array(ends, np.int64),
        })
        return dict(zip(names, found, strict=True))


def self_test(model, tokenizer, graphs, dtype):
    """Compares the graphs with transformers on three clips: alone, with drafts, and all in one run."""
    ends, rows, heard, singles, same = ends_of(model.config), [], [], [], 0
    worst = {"features": 0.0, "logprobs": 0.0}
    for index, seconds in enumerate(SELF_TEST_SECONDS):
        features, mask = features_of(make_clip(index, seconds))
        expected = audio_of(model, features, mask).numpy()
        audio = graphs.encode([(features, mask)])
        worst["features"] = max(worst["features"], float(np.abs(audio - expected).max() / np.abs(expected).max()))
        prompt = prompt_of(tokenizer, len(audio))
        tokens, logprobs, _ = generate(model, prompt, features, mask, SELF_TEST_TOKENS)
        said = graphs.decode([(prompt, [])], audio, SELF_TEST_TOKENS, ends)
        own = said["tokens"][0].tolist()
        same += own == tokens
        if own == tokens:
            worst["logprobs"] = max(worst["logprobs"], float(np.abs(said["logprobs"][0] - logprobs).max()))
        rows.append((prompt, own[: 4 * index]))
        heard.append((features, mask))
        singles.append((own, audio))
    print(f"{dtype}: features differ by {worst['features']:.1e} of the greatest, {same} of {len(rows)} clips say what "
          f"transformers says, log probabilities differ by {worst['logprobs']:.1e}")
    drafted = test_drafts(graphs, rows, singles, ends)
    batched = test_batch(graphs, rows, singles, ends)
    alone = np.concatenate([audio for _, audio in singles])
    worst["batch"] = float(np.abs(graphs.encode(heard) - alone).max() / np.abs(alone).max())
    print(f"{dtype}: with drafts {drafted}, in one run {batched} of {len(rows)} say the same; features of all clips in "
          f"one run differ by {worst['batch']:.1e}")
    # Rounding to few bits changes what is said, most of all what a model with random weights says.
    if dtype == "f32" and (min(same, drafted, batched) < len(rows) or max(worst.values()) > TOLERANCE):
        raise SystemExit("the graphs do not say what transformers says")


def test_drafts(graphs, rows, singles, ends):
    """How many rows say the same with a draft, in runs of 3 tokens that go on with the caches."""
    same = 0
    for (prompt, draft), (own, audio) in zip(rows, singles, strict=True):
        run = graphs.decode([(prompt, [*draft, 1])], audio, 3, ends)
        said = draft[: int(run["agreed"][0])] + run["tokens"][0].tolist()
        while said[-1] not in ends and len(said) < len(own):
            past = [run["present_keys"], run["present_values"]]
            run = graphs.decode([(said[-1:], [])], audio[:0], 3, ends, past)
            said += run["tokens"][0].tolist()
        same += said[: len(own)] == own
    return same


def test_batch(graphs, rows, singles, ends):
    """How many rows say the same in a batch, with drafts of different lengths."""
    found = graphs.decode(rows, np.concatenate([audio for _, audio in singles]), SELF_TEST_TOKENS, ends)
    same = 0
    for (_, draft), (own, _), agreed, tokens in zip(rows, singles, found["agreed"], found["tokens"], strict=True):
        said = draft[: int(agreed)] + tokens.tolist()
        same += said[: len(own)] == own
    return same
