"""Moonshine streaming in transformers, in a process of its own: moonshine-streaming.py <folder of the exporter> <shape>.

Speaks what serve.mjs speaks. The weights are made as the exporter makes them, in float; one thread.
"""
import sys

from serve import serve

import torch

exporter, shape = sys.argv[1:3]
sys.path.insert(0, exporter)

from checkpoint import random_model
from clips import waveform
from compare import tokens_max

torch.set_num_threads(1)
model = random_model(shape, 1)


def transcribe(samples):
    sound = torch.from_numpy(waveform(samples))
    with torch.no_grad():
        text = model.generate(
            input_values=sound,
            attention_mask=torch.ones_like(sound, dtype=torch.long),
            max_new_tokens=tokens_max(len(samples)),
            do_sample=False,
        )
    return text.shape[1] - 1


serve(transcribe)
