import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DecodableKind, openDecoder, type Stretch } from '../../src/audio/decode.ts';
import { joinSamples, mixDown } from '../../src/audio/mix.ts';
import { readWav, writeWav } from '../../src/audio/wav.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { flacOfSilence } from '../helpers/flac.ts';
import { opusOfSilence } from '../helpers/ogg.ts';

const fixture = (name: string) => new Uint8Array(readFileSync(packagePath('fixtures', 'audio', name)));

/** Decodes `bytes` in pieces of the lengths in `cuts`, the last of them repeated. */
async function decodeInPieces(kind: DecodableKind, bytes: Uint8Array, cuts: readonly number[]) {
  const decoder = await openDecoder(kind, bytes.length);
  const stretches: (Stretch | null)[] = [];
  for (let from = 0, index = 0; from < bytes.length; index++) {
    const to = from + (cuts[index] ?? cuts.at(-1) ?? 1);
    stretches.push(decoder.push(bytes.slice(from, to)));
    from = to;
  }
  stretches.push(decoder.flush());
  decoder.close();
  const found = stretches.filter((stretch) => stretch !== null);
  return {
    rateHz: found[0]?.rateHz,
    channels: (found[0]?.channels ?? []).map((_, i) =>
      joinSamples(found.map(({ channels }) => channels[i] ?? new Int16Array(0))),
    ),
  };
}

describe('a WAV decoder', () => {
  it('gives what the whole file holds, however it is cut', async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 });
    const sides = fc.tuple(fc.int16Array({ minLength: 1, maxLength: 400 }), fc.integer({ min: 1, max: 3 }));
    await fc.assert(
      fc.asyncProperty(sides, lengths, async ([samples, channels], cuts) => {
        const bytes = writeWav(
          Array.from({ length: channels }, (_, channel) => samples.map((sample) => sample ^ channel)),
          8000,
        );
        expect(await decodeInPieces('wav', bytes, cuts)).toEqual(readWav(bytes));
      }),
      { numRuns: 60 },
    );
  });

  it('stops where the audio does, not where the file does', async () => {
    const bytes = writeWav([Int16Array.of(1, 2, 3)], 8000);
    const followed = Uint8Array.from([...bytes, ...new TextEncoder().encode('LIST\x04\0\0\0abcd')]);
    const { channels } = await decodeInPieces('wav', followed, [7]);
    expect(channels).toEqual([Int16Array.of(1, 2, 3)]);
  });

  it('takes what there is of a file that claims to be larger', async () => {
    const bytes = writeWav([Int16Array.of(1, 2, 3)], 8000);
    new DataView(bytes.buffer).setUint32(40, 2_000_000_000, true);
    expect((await decodeInPieces('wav', bytes, [50])).channels).toEqual([Int16Array.of(1, 2, 3)]);
  });

  it('says that a header is cut off', async () => {
    const decoder = await openDecoder('wav', 20);
    await expect(decodeInPieces('wav', writeWav([Int16Array.of(1)], 8000).slice(0, 30), [10])).rejects.toMatchObject({
      code: 'audio_unreadable',
    });
    decoder.close();
  });
});

describe('the codecs', () => {
  it.each<[DecodableKind, string, number]>([
    ['mp3', 'short.mp3', 2.88],
    ['flac', 'short.flac', 2.68125],
    ['vorbis', 'short.ogg', 2.68125],
    ['opus', 'short.opus', 2.6935],
  ])('decode %s in small pieces to its whole length', async (kind, name, seconds) => {
    const { rateHz = 0, channels } = await decodeInPieces(kind, fixture(name), [700]);
    expect((channels[0]?.length ?? 0) / rateHz).toBeCloseTo(seconds, 2);
  });

  it('give FLAC back without loss, but for the rounding of floats', async () => {
    const { channels } = await decodeInPieces('flac', fixture('short.flac'), [1000]);
    const [original = new Int16Array(0)] = readWav(fixture('short.wav')).channels;
    const worst = original.reduce((most, sample, at) => Math.max(most, Math.abs(sample - (channels[0]?.[at] ?? 0))), 0);
    expect([channels[0]?.length, worst]).toEqual([original.length, 1]);
  });

  it.each<DecodableKind>(['mp3', 'flac', 'vorbis', 'opus'])('survive %s bytes that mean nothing', async (kind) => {
    const noise = Uint8Array.from({ length: 5000 }, (_, index) => (index * 2_654_435_761) >>> 24);
    const outcome = await decodeInPieces(kind, noise, [512]).then(
      ({ channels }) => channels.length,
      (error: { code: string }) => error.code,
    );
    expect([0, 1, 2, 'audio_unreadable']).toContain(outcome);
  });
});

describe('mixDown', () => {
  it('is the mean of the channels and never clips', () => {
    expect(mixDown([Int16Array.of(32_767, 100, -5), Int16Array.of(32_767, -100, 6)])).toEqual(
      Int16Array.of(32_767, 0, 1),
    );
    expect(mixDown([])).toEqual(new Int16Array(0));
  });
});

describe('what a file says of itself', () => {
  it('is believed before it is decoded: a page with a gigabyte of samples is never begun', async () => {
    const bomb = opusOfSilence(1, 200);
    expect(bomb.length).toBeLessThan(2000);
    await expect(decodeInPieces('opus', bomb, [100])).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringContaining('it has 200 channels, expected 1 to 8'),
    });
    const { channels } = await decodeInPieces('opus', opusOfSilence(1, 2), [100]);
    expect(channels.map(({ length }) => length)).toEqual([255 * 5760, 255 * 5760]);
  });

  it.each([
    ['too low', 1, '1 Hz, expected 4000 to 192000'],
    ['too high', 655_350, '655350 Hz, expected 4000 to 192000'],
  ])('is refused where its rate is %s', async (_what, claimedHz, message) => {
    await expect(decodeInPieces('flac', flacOfSilence(4, claimedHz), [256])).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringContaining(message),
    });
  });

  it('may be a picture of any size before the audio', async () => {
    const flac = fixture('short.flac');
    const picture = Uint8Array.from([6, 0xff, 0xff, 0xff, ...new Uint8Array(0xffffff)]);
    const illustrated = Buffer.concat([flac.subarray(0, 42), picture, flac.subarray(42)]);
    expect(await decodeInPieces('flac', illustrated, [65_536])).toEqual(await decodeInPieces('flac', flac, [256]));
    const tagged = Buffer.concat([
      Uint8Array.from([...new TextEncoder().encode('ID3'), 4, 0, 0, 0, 0, 0, 20, ...new Uint8Array(20)]),
      flac,
    ]);
    expect(await decodeInPieces('flac', tagged, [7, 256])).toEqual(await decodeInPieces('flac', flac, [256]));
  });

  it('does not make a decoder keep bytes that become no audio', async () => {
    const endless = Buffer.concat([flacOfSilence(1).subarray(0, 50), Buffer.alloc(1_200_000, 0x55)]);
    await expect(decodeInPieces('flac', endless, [4096])).rejects.toMatchObject({
      code: 'audio_unreadable',
      message: expect.stringContaining('no FLAC frame of it ends within 1048576 bytes'),
    });
  });
});

describe('FLAC', () => {
  it('loses nothing, however it is cut', async () => {
    const whole = flacOfSilence(40);
    for (const cut of [1, 2, 5, 11, 12, 13, 14, 15, 16, 17, 31, 64, 99]) {
      const { channels } = await decodeInPieces('flac', whole, [cut]);
      expect([cut, channels[0]?.length]).toEqual([cut, 10 * 65_535]);
    }
    const flac = fixture('short.flac');
    const { channels } = readWav(fixture('short.wav'));
    for (const cut of [1, 13, 100, 256, 999, 2048]) {
      const decoded = await decodeInPieces('flac', flac, [cut]);
      expect([cut, decoded.channels[0]?.length]).toEqual([cut, channels[0]?.length]);
    }
  });
});

it('gives a file of Ogg up after 16 MB without a sound', async () => {
  const decoder = await openDecoder('opus', 1e8);
  // In one push: with each further one the codec copies all that it keeps.
  expect(() => decoder.push(new Uint8Array(16_777_217))).toThrow('there is no audio in 16777217 bytes of it');
  decoder.close();
});
