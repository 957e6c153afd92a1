"""Makes what the tests compare with: for each length a clip whose text is worth comparing, and what transformers makes
of it. The folders themselves come from export.py with the same seed."""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from checkpoint import random_model
from clips import RATE_HZ, clip
from compare import Reference, refer

# Lengths in samples: whole features, and some that end in the middle of one.
SECONDS = [0.4, 0.6, 0.8, 1, 1.2, 1.5, 2, 2.4, 2.8, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9.5, 11, 13, 16, 19, 23, 30]
EXTRA_SAMPLES = [0, 80, 160, 240]
LENGTHS = [int(seconds * RATE_HZ) + EXTRA_SAMPLES[n % 4] * (seconds < 30) for n, seconds in enumerate(SECONDS)]
DISTINCT_MIN = 8
SEEDS = 200
# Rounding must not decide between two tokens.
GAP_MIN = 0.0005
# Rows of features and memory, and positions of logits, that are kept of each clip.
ROWS, POSITIONS = 8, 2


def has_loop(tokens: list[int]) -> bool:
    """Whether engine/text.ts would collapse a loop."""
    for unit in range(1, 7):
        matching = 0
        for at in range(unit, len(tokens)):
            matching = matching + 1 if tokens[at] == tokens[at - unit] else 0
            if matching // unit + 1 >= 4:
                return True
    return False


def gap_of(logits: np.ndarray) -> float:
    """How much likelier the likeliest token is than the next, at the closest position."""
    ordered = np.sort(logits, 1)
    return float((ordered[:, -1] - ordered[:, -2]).min())


def is_worth_comparing(reference: Reference) -> bool:
    """Whether a text has many tokens, none of them by a hair, and no loop, which the engine would collapse."""
    text = [token for token in reference.tokens if token != 2]
    many = len(set(text)) >= min(DISTINCT_MIN, len(text))
    return many and not has_loop(text) and gap_of(reference.logits[:-1]) >= GAP_MIN


def find_clip(model, length: int, first: int) -> tuple[int, Reference]:
    """The first seed from `first` on whose clip is worth comparing."""
    for seed in range(first, first + SEEDS):
        reference = refer(model, clip(seed, length))
        if is_worth_comparing(reference):
            return seed, reference
    raise SystemExit(f"none of {SEEDS} clips of {length} samples is worth comparing: try another model")


def spread(count: int, wanted: int) -> list[int]:
    """So many indices below `count`, the first and the last among them."""
    return sorted({round(index * (count - 1) / max(1, wanted - 1)) for index in range(min(wanted, count))})


def write(model_seed: int, folder: Path) -> None:
    model = random_model("fixture", model_seed)
    cases, numbers = [], []
    for number, length in enumerate(LENGTHS):
        seed, reference = find_clip(model, length, 1000 * number)
        text = [token for token in reference.tokens if token != 2]
        rows = spread(len(reference.features), ROWS)
        positions = spread(len(reference.tokens), POSITIONS)
        cases.append({
            "seed": seed, "samples": length, "frames": len(reference.features), "tokens": text,
            "ended": 2 in reference.tokens, "rows": rows, "positions": positions,
        })
        numbers += [reference.features[rows], reference.memory[rows], reference.logits[positions]]
    (folder / "cases.json").write_text("[\n" + ",\n".join(f"  {json.dumps(case)}" for case in cases) + "\n]\n")
    np.concatenate([each.ravel() for each in numbers]).astype("<f4").tofile(folder / "values.f32")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True, help="of the model, as export.py is given it")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where to write")
    options = parser.parse_args()
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    write(options.seed, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
