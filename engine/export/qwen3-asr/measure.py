"""Measures folders in turns on 4 s of noise: milliseconds of processor time of one thread, and how many of a text's
tokens are verified when they come as a draft."""

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
import torch

from reference import CHUNK_FRAMES, Graphs, tokens_of

SECONDS = 4
# Tokens of the prompt before and behind the audio, and of the text.
AROUND = 10
DRAFT = 12
NO_END = [-1]


class Folder:
    """A model and what it is given."""

    def __init__(self, path):
        self.graphs = Graphs(path, threads=1)
        config = json.loads((path / "config.json").read_text("utf-8"))
        self.pad, self.hidden = config["audioPadToken"], config["hiddenSize"]
        frames = SECONDS * CHUNK_FRAMES
        sound = torch.randn(1, config["melBins"], frames, generator=torch.Generator().manual_seed(0))
        self.clip = [(sound, torch.ones(1, frames))]
        self.jobs = {
            "encoder": lambda: self.graphs.encode(self.clip),
            "first token": lambda: self.read(0, [], 1),
            f"{DRAFT} tokens": lambda: self.read(0, [], DRAFT),
            f"draft of {DRAFT}, a token": lambda: self.read(0, list(range(DRAFT)), 1),
        }

    def read(self, number, draft, count):
        features = np.random.default_rng(number).standard_normal((tokens_of(SECONDS * CHUNK_FRAMES), self.hidden)) / 2
        prompt = list(range(AROUND * number, AROUND * (number + 1)))
        prompt += [self.pad] * len(features) + list(range(AROUND))
        return self.graphs.decode([(prompt, draft)], features, count, NO_END)

    def verified(self, readings):
        """Of texts of its own that come back as drafts."""
        found = 0
        for number in range(readings):
            text = self.read(number, [], DRAFT)["tokens"][0].tolist()
            found += int(self.read(number, text, 1)["agreed"][0])
        return found


def timed(job):
    before = time.process_time()
    job()
    return 1000 * (time.process_time() - before)


def main():
    parser = argparse.ArgumentParser(prog="measure.py", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    folders = {path: Folder(path) for path in arguments.folders}
    for name in next(iter(folders.values())).jobs:
        for folder in folders.values():
            folder.jobs[name]()
        times = {path: [] for path in folders}
        for _ in range(arguments.rounds):
            for path, folder in folders.items():
                times[path].append(timed(folder.jobs[name]))
        for path, each in times.items():
            print(f"{path}, {name}: {min(each):.0f} ms, median {statistics.median(each):.0f}", flush=True)
    for path, folder in folders.items():
        print(f"{path}: {folder.verified(8)} of {8 * DRAFT} tokens of its own are verified", flush=True)


if __name__ == "__main__":
    main()
