import assert from 'node:assert/strict';
import { samplesToPcm16 } from '../../../src/audio/pcm.ts';
import { writeWav } from '../../../src/audio/wav.ts';
import { SpeechReader } from '../../../src/protocols/remote/openai-speech.ts';
import type { FuzzTarget } from '../fuzz.ts';

const ramp = Int16Array.from({ length: 64 }, (_, i) => i * 997);

/** What is read of `input` when it comes in pieces of `size` bytes; null = it is refused. */
function read(input: Uint8Array, size: number, rateHz: number | null): number[] | null {
  const reader = new SpeechReader(rateHz);
  const samples: number[] = [];
  try {
    for (let from = 0; from < input.length; from += size)
      samples.push(...(reader.push(input.subarray(from, from + size))?.samples ?? []));
  } catch (error) {
    assert(error instanceof Error);
    return null;
  }
  return samples;
}

/** What servers of TTS_URL answer. */
export const target: FuzzTarget = {
  name: 'remote-sound',
  seeds: [writeWav([ramp], 24_000), writeWav([ramp, ramp], 16_000), samplesToPcm16(ramp), Buffer.from('{"error":1}')],
  words: ['RIFF', 'WAVE', 'fmt ', 'data', 'ID3', '\u0000\u0000\u0000\u0000', '\u00ff\u00ff\u00ff\u00ff'],
  run(input) {
    for (const rateHz of [null, 24_000]) {
      const whole = read(input, input.length + 1, rateHz);
      const pieces = read(input, 7, rateHz);
      if (whole === null || pieces === null) continue;
      assert(whole.length <= input.length);
      assert.deepEqual(pieces, whole);
    }
  },
};
