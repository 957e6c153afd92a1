"""useful-moonshine-onnx in a process of its own: moonshine_onnx_peer.py <folder with encoder_model.onnx and decoder_model_merged.onnx>.

Speaks what serve.mjs speaks. The package gives its sessions no options, so the one thread is set where it asks for a session.
"""
import json
import sys
import time

import numpy as np
import onnxruntime
from moonshine_onnx import MoonshineOnnxModel, load_tokenizer

Session = onnxruntime.InferenceSession


def one_thread(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return Session(path, options, providers=["CPUExecutionProvider"])


def answer(message):
    print(json.dumps(message), flush=True)


onnxruntime.InferenceSession = one_thread
model = MoonshineOnnxModel(models_dir=sys.argv[1], model_name="tiny")
tokenizer = load_tokenizer()
answer({"ready": True})

for line in sys.stdin:
    samples = np.fromfile(json.loads(line)["path"], dtype="<i2").astype(np.float32) / 32768
    began, began_cpu = time.perf_counter(), time.process_time()
    text = tokenizer.decode_batch(model.generate(samples[None, :]))[0]
    answer({"text": text, "ms": (time.perf_counter() - began) * 1000, "cpuMs": (time.process_time() - began_cpu) * 1000})
