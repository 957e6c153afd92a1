import { describe, expect, it } from 'vitest';
import { VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { ForcedCut } from '../../src/transcription/forced-cut.ts';
import { SampleRing } from '../../src/transcription/sample-ring.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { settingsWith } from './transcriber-harness.ts';

const MS = 16;
const MAX_MS = 12_000;

/** Asks after each window where to cut `audio`, which is one utterance; what was examined by then, and the place. */
function cut(audio: Int16Array, changes = {}): { readonly atMs: number; readonly knownMs: number } | null {
  const ring = new SampleRing(audio.length);
  ring.push(audio);
  const probabilityAt = (sample: number): number => ((audio[sample] ?? 0) === 0 ? 0 : 1);
  const forced = new ForcedCut({ settings: settingsWith(changes), audio: ring, probabilityAt });
  for (let to = VAD_WINDOW_SAMPLES; to <= audio.length; to += VAD_WINDOW_SAMPLES) {
    const at = forced.find(0, to);
    if (at !== null) return { atMs: at / MS, knownMs: to / MS };
  }
  return null;
}

const loud = (durationMs: number): Int16Array => spoken([9], { wordMs: durationMs });
/** Speech of which each `everyMs` have a place between words of `gapMs`. */
const talk = (durationMs: number, everyMs: number, gapMs: number): Int16Array =>
  concat(
    ...Array.from({ length: Math.ceil(durationMs / everyMs) }, () => concat(loud(everyMs - gapMs), silence(gapMs))),
  );

describe('where long speech is cut', () => {
  it('is nowhere while it may go on', () => {
    expect(cut(loud(9900))).toBeNull();
  });

  it('is the first place that is as quiet as those before it, known as soon as it is there', () => {
    const found = cut(talk(14_000, 1300, 200));
    // Places end at 1300, 2600 … 10 400.
    expect(found?.atMs).toBeGreaterThan(10_200);
    expect(found?.atMs).toBeLessThan(10_400);
    expect((found?.knownMs ?? 0) - (found?.atMs ?? 0)).toBeLessThan(200);
  });

  it('waits for a quiet place rather than cut through a word', () => {
    const found = cut(concat(talk(9100, 1300, 200), loud(1900), silence(160), loud(2000)));
    expect(found?.atMs).toBeGreaterThan(11_000);
    expect(found?.atMs).toBeLessThan(11_160);
    expect((found?.knownMs ?? 0) - (found?.atMs ?? 0)).toBeLessThan(200);
  });

  it('is content with less towards the end', () => {
    const murmur = spoken([3], { wordMs: 400 });
    const before = concat(loud(7500), silence(200), loud(300), murmur, loud(1700));
    const found = cut(concat(before, murmur, loud(600), murmur, loud(2000)));
    expect(found?.atMs).toBeGreaterThan(11_100);
    expect(found?.atMs).toBeLessThan(11_500);
  });

  it('is the quietest of the last 800 ms where none was quiet enough, so that no word waits longer', () => {
    const found = cut(concat(talk(9100, 1300, 400), loud(4000)));
    expect(found?.knownMs).toBeGreaterThan(MAX_MS - 64);
    expect((found?.knownMs ?? 0) - (found?.atMs ?? 0)).toBeLessThanOrEqual(800);
  });

  it('is not where speech ends', () => {
    expect(cut(concat(talk(9100, 1300, 200), loud(1500), silence(1200)))).toBeNull();
  });

  it('never lies in the first half, however short an utterance may be', () => {
    const found = cut(talk(3000, 200, 60), { MAX_UTTERANCE_MS: 1000 });
    expect(found?.atMs).toBeGreaterThan(500);
    expect(found?.knownMs).toBeLessThanOrEqual(1000);
  });
});
