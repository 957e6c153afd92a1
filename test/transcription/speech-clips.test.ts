import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { ClipCutter, type RecordedClip } from '../../src/transcription/speech-clips.ts';

const WINDOW = 512;
const RATE_HZ = 16_000;
const SETTINGS = readSettings({});

/**
 * Audio in which each window is `loud` or not, and how sure the detector is of each; sample n has a value that tells it
 * from its neighbours.
 */
function recording(loud: readonly boolean[]) {
  const samples = new Int16Array(loud.length * WINDOW);
  loud.forEach((isLoud, window) => {
    for (let at = window * WINDOW; at < (window + 1) * WINDOW; at++)
      samples[at] = isLoud ? 1000 + (at % 1000) : at % 10;
  });
  return { samples, probabilities: Float32Array.from(loud, (isLoud) => (isLoud ? 0.95 : 0.02)) };
}

/** The clips of a recording that is pushed `windows` windows at a time. */
function cut({ samples, probabilities }: ReturnType<typeof recording>, windows: number): RecordedClip[] {
  const cutter = new ClipCutter(SETTINGS);
  const clips: RecordedClip[] = [];
  for (let from = 0; from < probabilities.length; from += windows) {
    const openFrom = cutter.openFrom;
    const found = cutter.push(
      samples.subarray(from * WINDOW, (from + windows) * WINDOW),
      probabilities.subarray(from, from + windows),
    );
    for (const clip of found) expect(clip.from).toBeGreaterThanOrEqual(openFrom);
    clips.push(...found);
  }
  return [...clips, ...cutter.finish()];
}

/** Whether the clip holds what the recording has at its parts. */
function hasSamples({ parts, spliced }: RecordedClip, samples: Int16Array): boolean {
  const there = parts.flatMap(({ from, to }) => [...samples.subarray(from, to)]);
  return Buffer.from(spliced.samples.buffer).equals(Buffer.from(Int16Array.from(there).buffer));
}

/** Where the speech of a clip lies in the recording. */
function speechOf({ parts, spliced }: RecordedClip): { from: number; to: number }[] {
  let at = 0;
  return parts.flatMap(({ from, to }) => {
    const moved = spliced.speech
      .filter((span) => span.from >= at && span.to <= at + to - from)
      .map((span) => ({ from: span.from - at + from, to: span.to - at + from }));
    at += to - from;
    return moved;
  });
}

const speechAndPauses = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 60 })), { minLength: 1, maxLength: 8 })
  .map((turns) =>
    turns.flatMap(([speech, pause]) => [...Array<boolean>(speech).fill(true), ...Array<boolean>(pause).fill(false)]),
  );

describe('ClipCutter', () => {
  it('cuts clips of at most 16 s that do not overlap and hold what was said', () => {
    fc.assert(
      fc.property(speechAndPauses, (loud) => {
        const audio = recording(loud);
        const clips = cut(audio, 100);
        let end = 0;
        for (const clip of clips) {
          expect(clip.from).toBeGreaterThanOrEqual(end);
          expect(clip.spliced.samples.length).toBeLessThanOrEqual(16 * RATE_HZ);
          expect([clip.from, clip.to]).toEqual([clip.parts[0]?.from, clip.parts.at(-1)?.to]);
          expect(hasSamples(clip, audio.samples)).toBe(true);
          end = clip.to;
        }
      }),
      { numRuns: 50 },
    );
  });

  it('leaves no window of speech out, save what is too short to be any', () => {
    fc.assert(
      fc.property(speechAndPauses, (loud) => {
        const spans = cut(recording(loud), 77).flatMap(speechOf);
        const isInside = (window: number) =>
          spans.some(({ from, to }) => from < (window + 1) * WINDOW && to > window * WINDOW);
        loud.forEach((isLoud, window) => {
          const isLong = loud[window - 1] === true || loud[window + 1] === true;
          if (isLoud && isLong) expect(isInside(window), `window ${window}`).toBe(true);
        });
      }),
      { numRuns: 50 },
    );
  });

  it('does not depend on how the recording is pushed', () => {
    fc.assert(
      fc.property(speechAndPauses, fc.integer({ min: 1, max: 150 }), (loud, windows) => {
        const audio = recording(loud);
        const bounds = (clips: readonly RecordedClip[]) =>
          clips.map((clip) => ({ parts: clip.parts, speech: speechOf(clip) }));
        expect(bounds(cut(audio, windows))).toEqual(bounds(cut(audio, 50)));
      }),
      { numRuns: 30 },
    );
  });

  it('goes on over short pauses as long as there is room, and leaves them out', () => {
    const said = (windows: number, pause: number) => [
      ...Array<boolean>(windows).fill(true),
      ...Array<boolean>(pause).fill(false),
    ];
    const talk = [said(100, 30), said(100, 30), said(250, 30), said(60, 110), said(30, 20)];
    const audio = recording(talk.flat());
    const clips = cut(audio, 100);
    const preRoll = 0.1 * RATE_HZ;
    const from = [0, 540 * WINDOW - preRoll, 710 * WINDOW - preRoll];
    expect(clips.map((clip) => clip.from)).toEqual(from);
    expect(clips.map(({ parts }) => parts.length)).toEqual([3, 1, 1]);
    expect(clips.every((clip) => hasSamples(clip, audio.samples))).toBe(true);
  });

  it('lets a clip go as soon as nothing can be joined to it', () => {
    const loud = [...Array<boolean>(60).fill(true), ...Array<boolean>(200).fill(false)];
    const { samples, probabilities } = recording(loud);
    const cutter = new ClipCutter(SETTINGS);
    let window = 0;
    while (window < loud.length) {
      const found = cutter.push(
        samples.subarray(window * WINDOW, (window + 1) * WINDOW),
        probabilities.subarray(window, window + 1),
      );
      window++;
      if (found.length > 0) break;
    }
    expect((window - 60) * WINDOW).toBeGreaterThan(3 * RATE_HZ);
    expect((window - 60) * WINDOW).toBeLessThan(3.3 * RATE_HZ);
  });

  it('knows the pauses inside of a clip', () => {
    const loud = [...Array<boolean>(30).fill(true), ...Array<boolean>(9).fill(false), ...Array<boolean>(30).fill(true)];
    const [clip, ...others] = cut(recording(loud), 100);
    expect(others).toEqual([]);
    expect(clip?.spliced.speech).toEqual([
      { from: 0, to: 30 * WINDOW },
      { from: 39 * WINDOW, to: 69 * WINDOW },
    ]);
  });

  it('cuts long speech where it is quietest', () => {
    const audio = recording(Array<boolean>(700).fill(true));
    const quietFrom = Math.round(8.2 * RATE_HZ);
    audio.samples.fill(3, quietFrom, quietFrom + 0.12 * RATE_HZ);
    const [first, second] = cut(audio, 100).flatMap(({ parts }) => parts);
    expect(Math.abs((first?.to ?? 0) - (quietFrom + 0.06 * RATE_HZ))).toBeLessThan(0.03 * RATE_HZ);
    expect(second?.from).toBe(first?.to);
  });

  it('finds nothing in silence', () => {
    expect(cut(recording(Array<boolean>(300).fill(false)), 40)).toEqual([]);
  });
});
