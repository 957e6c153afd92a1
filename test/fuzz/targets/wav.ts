import assert from 'node:assert/strict';
import { readWav, type WavAudio, writeWav } from '../../../src/audio/wav.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { FuzzTarget } from '../fuzz.ts';

const ramp = Int16Array.from({ length: 64 }, (_, i) => i * 997);

/** A written file with another codec tag and sample size, and the data size that it claims. */
function variant(tag: number, bits: number, dataBytes = 128): Uint8Array {
  const bytes = Buffer.from(writeWav([ramp], 8000));
  bytes.writeUInt16LE(tag, 20);
  bytes.writeUInt16LE(bits, 34);
  bytes.writeUInt32LE(dataBytes, 40);
  return bytes;
}

function read(input: Uint8Array): WavAudio | null {
  try {
    return readWav(input);
  } catch (error) {
    assert(error instanceof TrunklineError, error as Error);
    return null;
  }
}

export const target: FuzzTarget = {
  name: 'wav',
  seeds: [
    writeWav([ramp, ramp], 44_100),
    ...[8, 16, 24, 32].map((bits) => variant(1, bits)),
    ...[32, 64].map((bits) => variant(3, bits, 0)),
    ...[6, 7].map((tag) => variant(tag, 8, 0xffff_ffff)),
    variant(0x11, 4),
  ],
  words: ['RIFF', 'RF64', 'WAVE', 'fmt ', 'data', 'LIST', '\u0000\u0000\u0000\u0000', '\u0003\u0000\u0000\u0000'],
  run(input) {
    const audio = read(input);
    if (audio === null) return;
    const lengths = audio.channels.map((channel) => channel.length);
    assert.equal(new Set(lengths).size, 1);
    assert(lengths.reduce((sum, length) => sum + length, 0) <= input.length);
    assert.deepEqual(readWav(writeWav(audio.channels, audio.rateHz)), audio);
  },
};
