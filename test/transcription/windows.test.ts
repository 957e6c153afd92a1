import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutSearch, partialDue, partialWindow, quietestPoint } from '../../src/transcription/windows.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { settingsWith } from './transcriber-harness.ts';

const MS = 16;
const settings = settingsWith();

describe('partialDue', () => {
  const due = (lengthMs: number, sinceMs: number, load: number): boolean =>
    partialDue({ from: 0, askedTo: (lengthMs - sinceMs) * MS, detectedTo: lengthMs * MS, load }, settings);

  it.each([
    ['before CHUNK_MS of new speech', 1000, 399, 0, false],
    ['after CHUNK_MS of new speech', 1000, 400, 0, true],
    ['in long speech while the engine is idle', 11_000, 400, 0.6, true],
    ['in short speech while the engine is busy', 4000, 400, 0.9, true],
    ['over 4 s while busy, after one chunk', 4001, 799, 0.61, false],
    ['over 4 s while busy, after two chunks', 4001, 800, 0.61, true],
    ['over 8 s while busy, after two chunks', 8001, 1199, 0.61, false],
    ['over 8 s while busy, after three chunks', 8001, 1200, 0.61, true],
  ])('%s', (_, lengthMs, sinceMs, load, expected) => {
    expect(due(lengthMs, sinceMs, load)).toBe(expected);
  });
});

describe('partialWindow', () => {
  it('reaches back to the start of the utterance', () => {
    expect(partialWindow({ from: 100, decodedTo: 5000 * MS, to: 5400 * MS }, settings)).toEqual({
      from: 100,
      to: 5400 * MS,
    });
  });

  it('reaches back no further than WINDOW_MAX_MS', () => {
    const short = settingsWith({ WINDOW_MAX_MS: 2000 });
    expect(partialWindow({ from: 0, decodedTo: 5000 * MS, to: 5400 * MS }, short)).toEqual({
      from: 3400 * MS,
      to: 5400 * MS,
    });
  });

  it('begins within the utterance and overlaps what was decoded by OVERLAP_MS, whatever the settings', () => {
    const lengths = fc.record({ from: fc.nat(1e6), heard: fc.nat(1e6), more: fc.nat(1e6) });
    const changes = fc.record({ WINDOW_MAX_MS: fc.integer({ min: 600, max: 30_000 }), OVERLAP_MS: fc.nat(5000) });
    fc.assert(
      fc.property(lengths, changes, ({ from, heard, more }, changed) => {
        const decodedTo = from + heard;
        const window = partialWindow({ from, decodedTo, to: decodedTo + more }, settingsWith(changed));
        expect(window.from).toBeGreaterThanOrEqual(from);
        expect(window.from).toBeLessThanOrEqual(Math.max(from, decodedTo - changed.OVERLAP_MS * MS));
      }),
    );
  });
});

describe('cutSearch', () => {
  it('lets an utterance go on while its next window fits into MAX_UTTERANCE_MS', () => {
    expect(cutSearch({ from: 0, detectedTo: 12_000 * MS - 512, step: 512 }, settings, 3000)).toBeNull();
  });

  it('looks at the end otherwise', () => {
    const detectedTo = 12_000 * MS - 511;
    expect(cutSearch({ from: 0, detectedTo, step: 512 }, settings, 3000)).toEqual({
      from: detectedTo - 3000 * MS,
      to: detectedTo,
    });
  });

  it('never looks at the first half', () => {
    expect(
      cutSearch({ from: 160, detectedTo: 160 + 16_000, step: 512 }, settingsWith({ MAX_UTTERANCE_MS: 1000 }), 3000),
    ).toEqual({
      from: 160 + 8000,
      to: 160 + 16_000,
    });
  });
});

describe('quietestPoint', () => {
  const speech = (): number => 1;

  it('falls into the only gap, towards its end', () => {
    const audio = concat(spoken([9], { wordMs: 1000 }), silence(100), spoken([9], { wordMs: 1000 }));
    expect(quietestPoint(audio, speech)).toBe(1080 * MS);
  });

  it('prefers the longer of two gaps', () => {
    const audio = concat(spoken([9, 9], { wordMs: 500, gapMs: 40 }), silence(90), spoken([9], { wordMs: 500 }));
    const point = quietestPoint(audio, speech);
    expect(point).toBeGreaterThan(1040 * MS);
    expect(point).toBeLessThan(1130 * MS);
  });

  it('prefers, where all is equally loud, the point at which the detector found the least speech', () => {
    const audio = spoken([9], { wordMs: 2000 });
    const point = quietestPoint(audio, (offset) => (offset >= 600 * MS && offset < 640 * MS ? 0.3 : 0.9));
    expect(point).toBeGreaterThanOrEqual(600 * MS);
    expect(point).toBeLessThan(640 * MS);
  });

  it('lies inside the audio, whatever it holds', () => {
    fc.assert(
      fc.property(fc.int16Array({ minLength: 1600, maxLength: 5000 }), (audio) => {
        const point = quietestPoint(audio, () => 0.5);
        expect(point).toBeGreaterThan(0);
        expect(point).toBeLessThan(audio.length);
      }),
    );
  });
});
