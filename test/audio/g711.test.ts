import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { type Codec, MULAW_8K } from '../../src/foundation/units.ts';

const ALAW: Codec = { ...MULAW_8K, name: 'alaw' };
const PCM16: Codec = { ...MULAW_8K, name: 'pcm16', bytesPerSample: 2 };
const CODES = Uint8Array.from({ length: 256 }, (_, code) => code);
const POSITIVE = Int16Array.from({ length: 32_767 }, (_, i) => i + 1);

/** ITU-T G.191's reference for positive samples: 14-bit magnitude, biased by 33. */
function referenceMulaw(sample: number): number {
  const magnitude = Math.min((sample >> 2) + 33, 0x1fff);
  const segment = 31 - Math.clz32(magnitude >> 5);
  return 0xff ^ ((segment << 4) | ((magnitude >> (segment + 1)) & 0xf));
}

/** ITU-T G.191's reference for positive samples: 12-bit magnitude, even bits inverted. */
function referenceAlaw(sample: number): number {
  const magnitude = sample >> 4;
  if (magnitude < 16) return (0x80 | magnitude) ^ 0x55;
  const segment = 31 - Math.clz32(magnitude >> 4) + 1;
  return (0x80 | (segment << 4) | ((magnitude >> (segment - 1)) & 0xf)) ^ 0x55;
}

describe('µ-law', () => {
  it('decodes every code by the formula of G.711', () => {
    const expected = Array.from(CODES, (code) => {
      const bits = ~code & 0xff;
      const magnitude = ((((bits & 0xf) << 3) + 132) << ((bits >> 4) & 7)) - 132;
      return bits & 0x80 ? 0 - magnitude : magnitude;
    });
    expect([...decodeG711(CODES, MULAW_8K)]).toEqual(expected);
  });

  it('encodes every positive sample as the ITU reference does, segment edges included', () => {
    expect(encodeG711(POSITIVE, MULAW_8K)).toEqual(Uint8Array.from(POSITIVE, referenceMulaw));
  });

  it('encodes a negative sample like the positive one, but for the sign bit', () => {
    const negative = POSITIVE.map((sample) => -sample);
    const flipped = encodeG711(negative, MULAW_8K).map((code) => code ^ 0x80);
    expect(flipped).toEqual(encodeG711(POSITIVE, MULAW_8K));
  });

  it('holds silence as 0xFF, never 0x00', () => {
    expect([...encodeG711(new Int16Array(2), MULAW_8K)]).toEqual([0xff, 0xff]);
    expect([...decodeG711(new Uint8Array(1), MULAW_8K)]).toEqual([-32_124]);
  });

  it('clips the loudest samples', () => {
    expect([...encodeG711(Int16Array.of(32_767, -32_768), MULAW_8K)]).toEqual([0x80, 0x00]);
  });
});

describe('A-law', () => {
  it('encodes every positive sample as the ITU reference does', () => {
    expect(encodeG711(POSITIVE, ALAW)).toEqual(Uint8Array.from(POSITIVE, referenceAlaw));
  });

  it('gives every code back that it decoded', () => {
    expect(encodeG711(decodeG711(CODES, ALAW), ALAW)).toEqual(CODES);
  });

  it('decodes the ends of the scale', () => {
    expect([...decodeG711(Uint8Array.of(0xd5, 0x55, 0xaa, 0x2a), ALAW)]).toEqual([8, -8, 32_256, -32_256]);
  });
});

describe('16-bit PCM on a wire', () => {
  it('comes back as it went, whatever the samples', () => {
    fc.assert(
      fc.property(fc.int16Array(), (samples) => {
        expect(decodeG711(encodeG711(samples, PCM16), PCM16)).toEqual(samples);
      }),
    );
  });

  it('is little-endian, and half a sample at the end is left out', () => {
    expect([...decodeG711(Uint8Array.of(0x01, 0x80, 0x07), PCM16)]).toEqual([-32_767]);
  });
});

it('companding never moves a sample by more than half of the step there', () => {
  fc.assert(
    fc.property(fc.integer({ min: -32_000, max: 32_000 }), fc.constantFrom(MULAW_8K, ALAW), (sample, codec) => {
      const [back = Number.NaN] = decodeG711(encodeG711(Int16Array.of(sample), codec), codec);
      expect(Math.abs(back - sample)).toBeLessThanOrEqual(8 + (Math.abs(sample) + 132) / 32);
    }),
  );
});
