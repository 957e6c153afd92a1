"""Parakeet TDT in a process of its own: parakeet.py transformers <folder of the exporter> <layers>, or
parakeet.py sherpa <folder of the exporter> <folder with a model in sherpa-onnx's layout>.

Speaks what serve.mjs speaks. The weights for transformers are made as the exporter makes them, in float; one thread.
"""
import os
import sys

from serve import serve

import numpy as np

kind, exporter, source = sys.argv[1:4]
sys.path.insert(0, exporter)


def with_transformers():
    import torch
    from checkpoint import random_model
    from reference import features_of, generate

    torch.set_num_threads(1)
    model, extractor, _ = random_model("0.6b", int(source), 0)
    return lambda samples: len(generate(model, features_of(extractor, samples))[0])


def with_sherpa():
    import sherpa_onnx

    files = {name: os.path.join(source, f"{name}.int8.onnx") for name in ("encoder", "decoder", "joiner")}
    recognizer = sherpa_onnx.OfflineRecognizer.from_transducer(
        **files, tokens=os.path.join(source, "tokens.txt"), feature_dim=128, model_type="nemo_transducer", num_threads=1
    )

    def transcribe(samples):
        stream = recognizer.create_stream()
        stream.accept_waveform(16_000, samples.astype(np.float32) / 32768)
        recognizer.decode_stream(stream)
        return len(stream.result.tokens)

    return transcribe


serve(with_transformers() if kind == "transformers" else with_sherpa())
