import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeWav, MP3_RATES_HZ, Mp3Encoder } from '../../src/audio/encode.ts';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { readWav } from '../../src/audio/wav.ts';

async function* given(...stretches: readonly Int16Array[]): AsyncGenerator<Uint8Array> {
  for (const samples of stretches) yield samplesToPcm16(samples);
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

function sine(rateHz: number, seconds: number): Int16Array {
  return Int16Array.from({ length: rateHz * seconds }, (_, i) => 8000 * Math.sin((2 * Math.PI * 440 * i) / rateHz));
}

/**
 * An MPEG audio frame's header (ISO/IEC 11172-3 §2.4.1.3): version bits, layer bits, kbit/s index, rate index, mode.
 */
function mp3Header(bytes: Buffer) {
  const word = bytes.readUInt32BE(0);
  return {
    sync: word >>> 21,
    version: (word >>> 19) & 3,
    layer: (word >>> 17) & 3,
    rate: (word >>> 10) & 3,
    mode: (word >>> 6) & 3,
  };
}

describe('encodeWav', () => {
  it('writes a header that says nothing of the length, then the samples as they come', async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of encodeWav(given(Int16Array.of(1, -2), Int16Array.of(3)), 24_000)) chunks.push(chunk);
    expect(chunks.map(({ length }) => length)).toEqual([44, 4, 2]);
    const file = Buffer.concat(chunks);
    expect([file.readUInt32LE(4), file.readUInt32LE(40)]).toEqual([0xffff_ffff, 0xffff_ffff]);
    expect(readWav(file)).toEqual({ rateHz: 24_000, channels: [Int16Array.of(1, -2, 3)] });
  });

  it('is read back as what was given, however it was cut', async () => {
    const stretch = fc
      .array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 50 })
      .map((samples) => Int16Array.from(samples));
    await fc.assert(
      fc.asyncProperty(fc.array(stretch, { minLength: 1, maxLength: 5 }), async (stretches) => {
        const { channels } = readWav(await collect(encodeWav(given(...stretches), 8000)));
        expect([...(channels[0] ?? [])]).toEqual(stretches.flatMap((samples) => [...samples]));
      }),
      { numRuns: 50 },
    );
  });

  it('is nothing without sound', async () => {
    expect(await collect(encodeWav(given(), 8000))).toHaveLength(0);
  });
});

describe('Mp3Encoder', () => {
  const encoder = new Mp3Encoder();

  it.each(MP3_RATES_HZ)('keeps the sampling rate of %i Hz and makes 8000 bytes a second of it', async (rateHz) => {
    const file = await collect(encoder.encode(given(sine(rateHz, 1)), rateHz));
    const { sync, version, layer, rate, mode } = mp3Header(file);
    expect({ sync, layer, mode }).toEqual({ sync: 0x7ff, layer: 1, mode: 3 });
    const lowest = [11_025, 12_000, 8000][rate] ?? 0;
    expect(lowest * ({ 0: 1, 2: 2, 3: 4 }[version] ?? 0)).toBe(rateHz);
    expect(file.length).toBeGreaterThan(8000);
    expect(file.length).toBeLessThan(9600);
  });

  it('gives bytes long before the sound is over', async () => {
    let pulled = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        pulled++;
        yield samplesToPcm16(sine(16_000, 1));
      }
    }
    const chunks = encoder.encode(endless(), 16_000);
    expect((await chunks.next()).value?.length).toBeGreaterThan(0);
    expect(pulled).toBe(1);
    await chunks.return();
  });

  it('makes the same file of the same sound, also with an encoder that was given up in the middle of another', async () => {
    const fresh = await collect(new Mp3Encoder().encode(given(sine(16_000, 1)), 16_000));
    const reused = new Mp3Encoder();
    const abandoned = reused.encode(given(sine(24_000, 2)), 24_000);
    await abandoned.next();
    await abandoned.return();
    expect(await collect(reused.encode(given(sine(16_000, 1)), 16_000))).toEqual(fresh);
  });

  it('encodes several sounds at once, each for itself', async () => {
    const alone = await collect(encoder.encode(given(sine(8000, 1)), 8000));
    const both = await Promise.all(
      [encoder.encode(given(sine(8000, 1)), 8000), encoder.encode(given(sine(48_000, 1)), 48_000)].map(collect),
    );
    expect(both[0]).toEqual(alone);
  });

  it('lets others have their turn while it works on a long stretch', async () => {
    let turns = 0;
    let working = true;
    const count = (): void => {
      turns++;
      if (working) setImmediate(count);
    };
    setImmediate(count);
    await collect(encoder.encode(given(sine(16_000, 10)), 16_000));
    working = false;
    expect(turns).toBeGreaterThan(30);
  });

  it('is nothing without sound', async () => {
    expect(await collect(encoder.encode(given(), 16_000))).toHaveLength(0);
  });
});
