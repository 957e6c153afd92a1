"""Whisper in transformers, in a process of its own: whisper.py <folder of the exporter> <shape>.

Speaks what serve.mjs speaks. The weights are made as the exporter makes them, in float; one thread. The window is 30 s,
as transformers has it.
"""
import sys

from serve import serve

import torch

exporter, shape = sys.argv[1:3]
sys.path.insert(0, exporter)

from checkpoint import random_model
from reference import POSITIONS_MAX, features_of, suppressed, tokens_max

torch.set_num_threads(1)
model, _ = random_model(shape, 0)


def transcribe(samples):
    with torch.no_grad():
        text = model.generate(
            input_features=features_of(model, samples, POSITIONS_MAX),
            max_new_tokens=tokens_max(len(samples)),
            language="en",
            task="transcribe",
            suppress_tokens=suppressed(model),
            do_sample=False,
        )
    return text.shape[1]


serve(transcribe)
