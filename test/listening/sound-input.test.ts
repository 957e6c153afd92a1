import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeG711 } from '../../src/audio/g711.ts';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { codecOf, type ListeningFormat, SoundInput } from '../../src/listening/sound-input.ts';
import { concat } from '../fakes/engine.ts';

/** All that comes out for `bytes` in pieces of these sizes in turn. */
function read(format: ListeningFormat, bytes: Uint8Array, sizes: readonly number[]): Int16Array[] {
  const input = new SoundInput(format);
  const parts: Int16Array[][] = [];
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? bytes.length;
    parts.push(input.push(bytes.subarray(at, at + size)));
    at += size;
  }
  parts.push(input.flush());
  return Array.from({ length: format.channels }, (_, channel) =>
    concat(...parts.map((each) => each[channel] ?? new Int16Array(0))),
  );
}

const formats = fc.record({
  encoding: fc.constantFrom('linear16' as const, 'mulaw' as const, 'alaw' as const),
  rateHz: fc.constantFrom(8000, 16_000, 24_000, 44_100, 48_000),
  channels: fc.integer({ min: 1, max: 3 }),
});

describe('the audio of a listening session', () => {
  it('gives the same samples however its bytes are cut', () => {
    const anySize = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(formats, fc.uint8Array({ maxLength: 3000 }), anySize, (format, bytes, sizes) => {
        expect(read(format, bytes, sizes)).toEqual(read(format, bytes, [Math.max(bytes.length, 1)]));
      }),
      { numRuns: 60 },
    );
  });

  it('lasts as long at 16 kHz as it does on the wire', () => {
    fc.assert(
      fc.property(formats, fc.integer({ min: 0, max: 400 }), (format, samples) => {
        const { bytesPerSample } = codecOf(format);
        const bytes = new Uint8Array(samples * format.channels * bytesPerSample);
        for (const channel of read(format, bytes, [77]))
          expect(channel.length).toBe(Math.ceil((samples * 16_000) / format.rateHz));
      }),
      { numRuns: 60 },
    );
  });

  it('is the samples themselves at 16 kHz', () => {
    const samples = Int16Array.of(0, 1000, -1000, 32_767, -32_768, 7);
    const format = { encoding: 'linear16', rateHz: 16_000, channels: 1 } as const;
    expect(read(format, samplesToPcm16(samples), [3])).toEqual([samples]);
  });

  it.each(['mulaw', 'alaw'] as const)('expands %s', (encoding) => {
    const samples = Int16Array.from({ length: 64 }, (_, at) => 1000 * Math.sin(at));
    const format = { encoding, rateHz: 16_000, channels: 1 } as const;
    const [read16k = new Int16Array(0)] = read(format, encodeG711(samples, codecOf(format)), [5]);
    for (const [at, sample] of samples.entries()) expect(Math.abs((read16k[at] ?? 0) - sample)).toBeLessThan(40);
  });

  it('takes interleaved channels apart', () => {
    const format = { encoding: 'linear16', rateHz: 16_000, channels: 3 } as const;
    const bytes = samplesToPcm16(Int16Array.of(1, 2, 3, 4, 5, 6));
    expect(read(format, bytes, [1])).toEqual([Int16Array.of(1, 4), Int16Array.of(2, 5), Int16Array.of(3, 6)]);
  });

  it.each([
    { rateHz: 7999 },
    { rateHz: 48_001 },
    { rateHz: 16_000.5 },
    { rateHz: Number.NaN },
    { channels: 0 },
    { channels: 9 },
    { channels: 1.5 },
  ])('is refused with %o', (wrong) => {
    const format = { encoding: 'linear16', rateHz: 16_000, channels: 1, ...wrong } as const;
    expect(() => new SoundInput(format)).toThrow(/expected/);
  });
});
