"""What serve.mjs does, for peers in Python, with one thread: one request after the other, JSON line by JSON line."""
import json
import os
import resource
import sys
import time

# Before torch is imported, which reads it once.
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np


def answer(message):
    print(json.dumps(message), flush=True)


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def serve(transcribe):
    """Serves until stdin ends. `transcribe` gives the number of tokens of 16-bit samples."""
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
