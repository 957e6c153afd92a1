"""Makes what the tests compare with: for each length a clip whose text is worth comparing, and what transformers makes
of it."""

import json

import numpy as np

from checkpoint import FIXTURE_LANGUAGES
from reference import (
    POSITION_SAMPLES,
    POSITIONS_MAX,
    RATE_HZ,
    TOKENS_PER_SECOND_ANY,
    Reader,
    clip,
    features_of,
    generated,
    ids_of,
    language_of,
    positions_of,
    prompt_of,
    tokens_max,
)

SECONDS = (0.4, 0.6, 0.8, 1, 1.3, 1.6, 2, 2.4, 2.8, 3.3, 4, 4.7, 5.5, 6.5, 8, 10, 13, 17, 28.9)
# Read with the window of 30 s, too.
WHOLE_MAX_SECONDS = 2
DISTINCT_MIN = 6
SEEDS = 300
# Rounding must not decide between two tokens.
GAP_MIN = 0.0005
# Every so many numbers are kept as a reference.
STEPS = {"features": 1499, "hidden": 397, "logits": 53}


def has_loop(tokens):
    """Whether engine/models/whisper/ would stop: 1 to 4 tokens four times, or more of them twice and begun again."""
    for end in range(2, len(tokens) + 1):
        for unit in range(1, min(40, end - 1) + 1):
            need = 3 * unit if unit < 5 else unit + 4
            if end >= unit + need and all(tokens[end - 1 - k] == tokens[end - 1 - unit - k] for k in range(need)):
                return True
    return False


def is_worth_comparing(tokens, gap):
    says_enough = len(tokens) > 1 and len(set(tokens)) >= min(DISTINCT_MIN, len(tokens) - 1)
    return says_enough and not has_loop(tokens) and gap >= GAP_MIN


def read_clip(model, ids, seed, samples):
    """What transformers makes of a clip; None = it is not worth comparing."""
    sound, prompt, limit = clip(seed, samples), prompt_of(ids), tokens_max(samples)
    positions = positions_of(samples)
    features = features_of(model, sound, positions)
    reader = Reader(model, positions, features)
    tokens, logprobs, gap = reader.read(prompt, limit)
    language, lead = language_of(reader, ids, FIXTURE_LANGUAGES)
    if not is_worth_comparing(tokens, gap) or lead < GAP_MIN:
        return None
    found = {
        "seed": seed, "samples": samples, "language": language, "tokens": tokens, "logprobs": rounded(logprobs),
        "places": reader.token_positions(prompt, tokens, samples // POSITION_SAMPLES),
        "features": every(features, "features"), "hidden": every(reader.hidden, "hidden"),
        "logits": every(reader.logits(prompt)[-1], "logits"),
    }
    if generated(model, positions, features, limit, "en") != tokens:
        raise SystemExit(f"transformers' generate says something else of clip {seed}")
    spoken, _, gap = reader.read(prompt_of(ids, language), tokens_max(samples, TOKENS_PER_SECOND_ANY))
    if is_worth_comparing(spoken, gap):
        found["detected"] = spoken
    if samples <= WHOLE_MAX_SECONDS * RATE_HZ:
        whole = Reader(model, POSITIONS_MAX, features_of(model, sound, POSITIONS_MAX))
        # In so much silence a random model says the same again and again: the engine stops there.
        said, _, gap = whole.read(prompt, limit)
        if gap >= GAP_MIN:
            found["whole"] = said
    return found


def write_cases(model, vocabulary, path):
    ids, cases = ids_of(vocabulary), []
    for number, seconds in enumerate(SECONDS):
        samples = round(seconds * RATE_HZ)
        seeds = range(1000 * number, 1000 * number + SEEDS)
        found = next((case for seed in seeds if (case := read_clip(model, ids, seed, samples)) is not None), None)
        if found is None:
            raise SystemExit(f"none of {SEEDS} clips of {seconds} s is worth comparing: try another seed")
        print(f"{seconds} s: clip {found['seed']}, {len(set(found['tokens']))} different tokens, {found['language']}")
        cases.append(found)
    path.write_text(json.dumps({"steps": STEPS, "clips": cases}) + "\n", encoding="utf-8")


def every(values, of):
    return rounded(np.asarray(values).ravel()[:: STEPS[of]].tolist())


def rounded(numbers):
    return [float(f"{number:.7g}") for number in numbers]
