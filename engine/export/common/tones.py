"""Clips for tests of several families."""

import numpy as np

RATE_HZ = 16_000


def make_clip(index, seconds):
    """A gliding tone that swells, and noise between, as 16-bit samples; whole numbers alone, so that every program and
    machine makes the same."""
    count = round(seconds * RATE_HZ)
    at = np.arange(count, dtype=np.int64)
    step = 268_435 * (150 + 37 * index)
    phase = np.cumsum(step + step // 10 * triangle(at, 3201) // 3201) & 0xFFFFFFFF
    tone = np.abs((phase >> 16) - 32_768) * 2 - 32_768
    period = RATE_HZ // (2 + index % 3)
    swell = 256 * triangle(at, period) // period
    # The linear congruential generator of "Numerical Recipes".
    noise = np.empty(count, dtype=np.int64)
    state = 1_000 + index
    for position in range(count):
        state = (state * 1_664_525 + 1_013_904_223) & 0xFFFFFFFF
        noise[position] = (state >> 16) - 32_768
    return ((tone * swell >> 10) + (noise * (256 - swell) >> 12)).astype(np.int16)


def triangle(at, period):
    """From `period` down to 0 and up again."""
    return np.abs(at % period * 2 - period)
