"""Sound made by whole numbers alone, so that every language that runs this arithmetic gets the same samples.

It is no speech, but it changes as speech does: three tones that move every 20 ms, syllables, pauses and noise.
test/e2e/parity/arithmetic-clip.ts is the same in TypeScript."""

import numpy as np

RATE_HZ = 16000
STEP_SAMPLES = 320
MASK = 0xFFFFFFFF


def clip(seed: int, samples: int) -> np.ndarray:
    """`samples` of 16-bit sound at 16 kHz."""
    random = seed & MASK
    phases, turns = [0, 0, 0], [0, 0, 0]
    loudness = 0
    sound = np.zeros(samples, np.int16)
    for at in range(samples):
        if at % STEP_SAMPLES == 0:
            step = at // STEP_SAMPLES
            for tone in range(3):
                random = (random * 1664525 + 1013904223) & MASK
                # From 100 Hz to 1.6 kHz, each tone in a range of its own.
                turns[tone] = 26843546 * (1 + 2 * tone) + (random >> 8) * (2 + tone)
            # A syllable is 8 steps long; every fifth one is a pause.
            loudness = 0 if step // 8 % 5 == 4 else 4 + (7 - abs(step % 8 - 4)) * 2
        value = 0
        for tone in range(3):
            phases[tone] = (phases[tone] + turns[tone]) & MASK
            triangle = abs((phases[tone] >> 16) - 32768) - 16384
            value += triangle >> (tone + 1)
        random = (random * 1664525 + 1013904223) & MASK
        sound[at] = (value * loudness >> 5) + ((random >> 24) - 128)
    return sound


def waveform(sound: np.ndarray) -> np.ndarray:
    """Samples as the models take them: from -1 to 1, [1, samples]."""
    return (sound.astype(np.float32) / 32768)[None]
