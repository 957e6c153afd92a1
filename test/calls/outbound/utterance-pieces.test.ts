import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Resampler } from '../../../src/audio/resample.ts';
import { audioPieces } from '../../../src/calls/outbound/utterance-pieces.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';

const made = vi.hoisted(() => ({ filters: 0 }));

vi.mock(import('../../../src/audio/resample.ts'), async (importOriginal) => {
  const original = await importOriginal();
  class Counted extends original.Resampler {
    constructor(...rates: ConstructorParameters<typeof Resampler>) {
      super(...rates);
      made.filters++;
    }
  }
  return { ...original, Resampler: Counted };
});

beforeEach(() => {
  made.filters = 0;
});

describe('audioPieces', () => {
  it('makes its filter once, however often a recording is played', () => {
    const recording = { samples: new Int16Array(0), rateHz: 44_101, label: 'nothing', loop: 1000 };
    const pieces = [...audioPieces(recording, MULAW_8K)];
    expect(pieces.at(-1)?.text).toBe('nothing');
    expect(made.filters).toBe(1);
  });

  it('plays each round as the first', () => {
    const samples = Int16Array.from({ length: 1234 }, (_, i) => ((i * 37) % 4000) - 2000);
    const soundOf = (loop: number) =>
      Buffer.concat(
        [...audioPieces({ samples, rateHz: 16_000, label: 'x', loop }, MULAW_8K)].flatMap(({ parts }) => [
          ...(parts as Iterable<Uint8Array>),
        ]),
      );
    const once = soundOf(1);
    expect(once.length).toBe(4 * 160);
    expect(soundOf(3)).toEqual(Buffer.concat([once, once, once]));
  });
});
