"""What fixtures/models/qwen3-asr/cases.json holds: clips, and what transformers makes of them."""

import numpy as np
import torch
from transformers.models.qwen3_asr.processing_qwen3_asr import _fix_timestamps

from layout import CLASS_MS
from reference import audio_of, encode, ends_of, features_of, generate, make_clip, open_graph
from vocabulary import AUDIO_PAD, TIMESTAMP, prompt_of

SECONDS = (0.2, 0.4, 0.5, 0.81, 1, 1.7, 2.3, 3.1, 4, 5.2, 6.5, 7.99, 8.5, 12, 17.3, 31)
NEW_TOKENS = 24
FEATURE_STEP = 1999
ENCODED_STEP = 47
CONTEXT = "hello call of the English"
LEAST_GAP = 2e-3
DISTINCT_MIN = 6
# The clips that the aligner gets, and what it is told was said in them.
ALIGNED = (2, 6, 8, 12)
WORDS = ["hello", "the", "call", "of", "English", "users", "it's", "42"]
# Tokens that no model says behind anything: bytes that no text has.
WRONG = [7, 11, 13]


def clips_of(model, tokenizer):
    """Each clip with what the model hears and says; None when a random model is of no use."""
    found, ends, distinct = [], 0, 0
    for index, seconds in enumerate(SECONDS):
        features, mask = features_of(make_clip(index, seconds))
        audio = audio_of(model, features, mask)
        readings = []
        for context, language in (("", None), ("", "English"), (CONTEXT, None))[: 3 if index % 4 == 2 else 1]:
            prompt = prompt_of(tokenizer, len(audio), context, language)
            tokens, logprobs, gap = generate(model, prompt, features, mask, NEW_TOKENS)
            if gap < LEAST_GAP:
                return None
            readings += readings_of(index, context, language, prompt, tokens, logprobs)
        said = readings[0]["tokens"]
        ends += len(said) < NEW_TOKENS
        distinct += len(set(said)) >= DISTINCT_MIN
        found.append({
            "seconds": seconds,
            "frames": int(mask.sum()),
            "tokens": len(audio),
            "features": rounded(features.flatten()[::FEATURE_STEP].tolist()),
            "encoded": rounded(audio.flatten()[::ENCODED_STEP].tolist()),
            "readings": readings,
        })
    is_usable = ends >= 3 and distinct >= len(SECONDS) - 4
    return found if is_usable else None


def readings_of(index, context, language, prompt, tokens, logprobs):
    """Without a draft, and on some clips with one that is right, right at first, wrong, or longer than the text."""
    is_plain = context == "" and language is None
    ended = tokens[-1:] != [] and len(tokens) < NEW_TOKENS
    text = tokens[:-1] if ended else tokens
    drafts = {"none": []}
    if is_plain and index % 2 == 0:
        drafts |= {"right": text[:12], "partly right": text[:3] + WRONG, "wrong": WRONG}
        if ended:
            drafts["too long"] = text + WRONG
    found = []
    for name, draft in drafts.items():
        agreed = next((at for at, token in enumerate(draft) if at >= len(text) or token != text[at]), len(draft))
        if agreed < len(tokens):
            found.append({
                "context": context, "language": language, "prompt": shortened(prompt), "draftIs": name, "draft": draft,
                "agreed": agreed, "draftLogprobs": rounded(logprobs[:agreed]), "tokens": tokens[agreed:],
                "logprobs": rounded(logprobs[agreed:]),
            })
    return found


def shortened(prompt):
    """Runs of more than two equal tokens, the audio's places, as [token, count]."""
    found = []
    for token in prompt:
        if found and found[-1][0] == token:
            found[-1][1] += 1
        else:
            found.append([token, 1])
    return [piece for token, count in found for piece in ([[token, count]] if count > 2 else [token] * count)]


def alignments_of(model, tokenizer):
    """What the aligner makes of a text in some of the clips; None when a random model is of no use."""
    found = [alignment_of(model, tokenizer, index) for index in ALIGNED]
    classes = {each for alignment, _ in found for each in alignment["classes"]}
    is_usable = min(gap for _, gap in found) > LEAST_GAP and len(classes) >= DISTINCT_MIN
    return [alignment for alignment, _ in found] if is_usable else None


def alignment_of(model, tokenizer, index):
    """Of one clip, and the least difference between a class and the next one."""
    features, mask = features_of(make_clip(index, SECONDS[index]))
    audio = audio_of(model.model, features, mask)
    text = f"<|audio_start|>{AUDIO_PAD * len(audio)}<|audio_end|>"
    text += "".join(word + TIMESTAMP * 2 for word in WORDS)
    prompt = tokenizer.encode(text, add_special_tokens=False).ids
    identities = torch.tensor([prompt])
    logits = model(input_ids=identities, input_features=features, input_features_mask=mask,
                   attention_mask=torch.ones_like(identities)).logits[0]
    logits = logits[identities[0] == model.config.timestamp_token_id].float()
    best = logits.topk(2).values
    classes = logits.argmax(-1)
    return {
        "clip": index, "words": WORDS, "prompt": shortened(prompt),
        "encoded": rounded(audio.flatten()[::ENCODED_STEP].tolist()), "classes": classes.tolist(),
        "timesMs": _fix_timestamps((classes.float() * CLASS_MS).numpy()),
    }, float((best[:, 0] - best[:, 1]).min())


def test_aligner(model, tokenizer, folder, dtype):
    """Compares the exported aligner with transformers."""
    graphs = [open_graph(folder / f"{name}.onnx") for name in ("encoder", "classifier")]
    same, count = 0, 0
    for index in ALIGNED:
        expected, _ = alignment_of(model, tokenizer, index)
        audio = encode(graphs[0], [features_of(make_clip(index, SECONDS[index]))])
        prompt = [token for piece in expected["prompt"] for token in spelled(piece)]
        classes = graphs[1].run(None, {"prompt_ids": np.array([prompt]), "audio_features": audio})[0].tolist()
        same += sum(a == b for a, b in zip(classes, expected["classes"], strict=True))
        count += len(classes)
    print(f"{dtype}: the aligner gives the class of transformers at {same} of {count} marks")
    if dtype == "f32" and same < count:
        raise SystemExit("the aligner does not say what transformers says")


def spelled(piece):
    return [piece[0]] * piece[1] if isinstance(piece, list) else [piece]


def cases(config, clips, alignments):
    return {"featureStep": FEATURE_STEP, "encodedStep": ENCODED_STEP, "maxNewTokens": NEW_TOKENS,
            "endTokens": ends_of(config), "clips": clips, "alignments": alignments or []}


def rounded(numbers):
    return [float(f"{number:.6g}") for number in numbers]
