"""Writes sound-cases.bin.gz: what the package hibari-tts 0.2.1 makes of 1000 lines with its noise off.

    pip install hibari-tts==0.2.1 scipy
    python make_sound_cases.py

The lines are the phonemes of phoneme-cases-us.json.gz: 25 whole ones, and of 975 the first 8 phonemes, so that the test
is quick. Of each there are its number of samples (u32) and 24 samples at the places that sound.test.ts computes, of the
first line all samples; all samples are i16 of 32767, little-endian.
"""
import gzip, json, os, struct
import numpy as np
from hibari import Hibari

HERE = os.path.dirname(os.path.abspath(__file__))
LINES, WHOLE, HEAD, PLACES = 1000, 25, 8, 24


class Silence:
    def standard_normal(self, shape, dtype):
        return np.zeros(shape, dtype)


def to_bytes(values):
    return np.round(np.clip(values, -1, 1) * 32767).astype("<i2").tobytes()


voice = Hibari()
with gzip.open(os.path.join(HERE, "phoneme-cases-us.json.gz"), "rt", encoding="utf-8") as file:
    lines = [phonemes for _, phonemes in json.load(file) if 0 < len(phonemes) <= 400][:LINES]
with gzip.GzipFile(os.path.join(HERE, "sound-cases.bin.gz"), "wb", mtime=0) as out:
    for index, line in enumerate(lines):
        phonemes = line if index < WHOLE else line[:HEAD]
        sound = voice.from_ids(voice.ids(phonemes), 1.0, Silence())
        places = [len(sound) * (2 * i + 1) // (2 * PLACES) for i in range(PLACES)]
        out.write(struct.pack("<I", len(sound)) + to_bytes(sound[places]))
        if index == 0:
            out.write(to_bytes(sound))
