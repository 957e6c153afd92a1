"""Parakeet TDT in a process of its own: parakeet.py transformers <folder of the exporter> <layers>, or
parakeet.py sherpa <folder of the exporter> <folder with a model in sherpa-onnx's layout>.

Speaks what serve.mjs speaks. The weights for transformers are made as the exporter makes them, in float; one thread.
"""
import json
import os
import resource
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

kind, exporter, source = sys.argv[1:4]
sys.path.insert(0, exporter)


def answer(message):
    print(json.dumps(message), flush=True)


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


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


transcribe = with_transformers() if kind == "transformers" else with_sherpa()
transcribe(np.zeros(64_000, dtype=np.int16))
answer({"ready": True})

for line in sys.stdin:
    samples = np.fromfile(json.loads(line)["path"], dtype="<i2")
    began, began_cpu = time.perf_counter(), processor_seconds()
    tokens = transcribe(samples)
    answer({
        "text": "",
        "tokens": tokens,
        "ms": (time.perf_counter() - began) * 1000,
        "cpuMs": (processor_seconds() - began_cpu) * 1000,
    })
