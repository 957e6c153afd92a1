"""What fixtures/models/qwen3-asr/cases.json holds: clips, and what transformers makes of them."""

from reference import audio_of, ends_of, features_of, generate, make_clip
from vocabulary import prompt_of

SECONDS = (0.2, 0.4, 0.5, 0.81, 1, 1.7, 2.3, 3.1, 4, 5.2, 6.5, 7.99, 8.5, 12, 17.3, 31)
NEW_TOKENS = 24
FEATURE_STEP = 1999
ENCODED_STEP = 47
CONTEXT = "hello call of the English"
LEAST_GAP = 2e-3
DISTINCT_MIN = 6
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


def cases(model, clips):
    return {"featureStep": FEATURE_STEP, "encodedStep": ENCODED_STEP, "maxNewTokens": NEW_TOKENS,
            "endTokens": ends_of(model.config), "clips": clips}


def rounded(numbers):
    return [float(f"{number:.6g}") for number in numbers]
