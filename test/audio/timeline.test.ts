import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Timeline, type TimelineChunk } from '../../src/audio/timeline.ts';

const FRAME = 160;
const OPTIONS = { rateHz: 8000, reorderMs: 60, gapMaxMs: 10_000 };

/**
 * The track's chunk `sequence` (from 1), 20 ms, all samples = its number × 100, at its proper time unless told
 * otherwise.
 */
function chunk(sequence: number, atMs = (sequence - 1) * 20): TimelineChunk {
  return { samples: new Int16Array(FRAME).fill(sequence * 100), atMs, sequence };
}

/** What comes out, as runs of equal samples: "value×milliseconds". */
function heard(stretches: Int16Array[]): string {
  const runs: { value: number; samples: number }[] = [];
  for (const value of stretches.flatMap((stretch) => [...stretch])) {
    const last = runs.at(-1);
    if (last?.value === value) last.samples++;
    else runs.push({ value, samples: 1 });
  }
  return runs.map((run) => `${run.value}×${run.samples / 8}`).join(' ');
}

function play(chunks: TimelineChunk[], timeline = new Timeline(OPTIONS)): { out: string; timeline: Timeline } {
  const ready = chunks.flatMap((each) => timeline.push(each));
  return { out: heard([...ready, ...timeline.flush()]), timeline };
}

describe('what was lost', () => {
  function losses(chunks: TimelineChunk[], gapMaxMs = 10_000): string[] {
    const told: string[] = [];
    play(chunks, new Timeline({ ...OPTIONS, gapMaxMs, onLost: (fromMs, toMs) => told.push(`${fromMs}–${toMs}`) }));
    return told;
  }

  it('is told by where it is made up for in the audio', () => {
    expect(losses([chunk(1, 100), chunk(2, 120), chunk(40, 880), chunk(41, 900), chunk(45, 980)])).toEqual([
      '140–880',
      '920–980',
    ]);
  });

  it('is told as long as it is in the audio, where not all of it was filled', () => {
    expect(losses([chunk(1, 0), chunk(2000, 40_000), chunk(2005, 40_100)])).toEqual(['20–10020', '10040–10120']);
  });

  it('is nothing where the carrier sent nothing, and nothing where a number was left out', () => {
    expect(losses([chunk(1, 0), chunk(2, 5000), chunk(5, 5020)])).toEqual([]);
  });
});

describe('in order', () => {
  it('chunks come out at once, as they are', () => {
    const timeline = new Timeline(OPTIONS);
    const first = chunk(1);
    expect(timeline.push(first)).toEqual([first.samples]);
    expect(timeline.push(chunk(2))[0]?.[0]).toBe(200);
  });

  it('the first chunk sets the origin', () => {
    const timeline = new Timeline(OPTIONS);
    expect(timeline.originMs).toBeNull();
    timeline.push(chunk(1, 115));
    expect(timeline.originMs).toBe(115);
  });

  it('jitter of a few milliseconds neither inserts nor drops', () => {
    const { out, timeline } = play([chunk(1, 0), chunk(2, 27), chunk(3, 33), chunk(4, 66), chunk(5, 75)]);
    expect(out).toBe('100×20 200×20 300×20 400×20 500×20');
    expect(timeline.stats.silenceMs).toBe(0);
  });

  it('drift adds up until half a frame is missing, then silence makes up for it', () => {
    const slow = Array.from({ length: 30 }, (_, i) => chunk(i + 1, i * 20.5));
    const { timeline } = play(slow);
    expect(timeline.stats.silenceMs).toBeCloseTo(10.5, 1);
  });

  it('timestamps that stand still drop nothing', () => {
    expect(play([chunk(1, 0), chunk(2, 0), chunk(3, 0)]).out).toBe('100×20 200×20 300×20');
  });

  it('an empty chunk is as if it had not come', () => {
    const empty = { samples: new Int16Array(0), atMs: 20, sequence: 2 };
    expect(play([chunk(1), empty, chunk(3, 20)]).out).toBe('100×20 300×20');
  });
});

describe('the carrier sent nothing for a while', () => {
  it('silence fills the gap at once', () => {
    const { out, timeline } = play([chunk(1, 0), chunk(2, 520)]);
    expect(out).toBe('100×20 0×500 200×20');
    expect(timeline.stats).toMatchObject({ silenceMs: 500, concealedMs: 0, skippedMs: 0 });
  });

  it('a gap beyond gapMaxMs becomes gapMaxMs of silence, and the clock moves on', () => {
    const { out, timeline } = play([chunk(1, 0), chunk(2, 3_600_000), chunk(3, 3_600_020)]);
    expect(out).toBe('100×20 0×10000 200×20 300×20');
    expect(timeline.stats.skippedMs).toBe(3_600_000 - 20 - 10_000);
  });

  it('a clock that starts again from 0 is followed', () => {
    const { out } = play([chunk(1, 900_000), chunk(2, 0), chunk(3, 520)]);
    expect(out).toBe('100×20 200×20 0×500 300×20');
  });

  it('audio that ran ahead of its timestamps is made up for by the next gap', () => {
    expect(play([chunk(1, 0), chunk(2, 20), chunk(3, 20), chunk(4, 160)]).out).toBe(
      '100×20 200×20 300×20 0×100 400×20',
    );
  });
});

describe('a chunk is missing', () => {
  it('the ones after it wait for reorderMs more of audio, then it is concealed by the decaying last frame', () => {
    const timeline = new Timeline(OPTIONS);
    expect(heard(timeline.push(chunk(1)))).toBe('100×20');
    expect(timeline.push(chunk(3))).toEqual([]);
    expect(timeline.push(chunk(4))).toEqual([]);
    expect(timeline.push(chunk(5))).toEqual([]);
    expect(heard(timeline.push(chunk(6)))).toBe('70×20 300×20 400×20 500×20 600×20');
    expect(timeline.stats).toMatchObject({ concealedMs: 20, silenceMs: 0, late: 0 });
  });

  it('a long loss decays over three frames into silence', () => {
    const { out, timeline } = play([chunk(10, 0), chunk(16, 120)]);
    expect(out).toBe('1000×20 700×20 490×20 343×20 0×40 1600×20');
    expect(timeline.stats).toMatchObject({ concealedMs: 60, silenceMs: 40 });
  });

  it('it is put in its place if it comes in time', () => {
    const { out, timeline } = play([chunk(1), chunk(3), chunk(4), chunk(2), chunk(5)]);
    expect(out).toBe('100×20 200×20 300×20 400×20 500×20');
    expect(timeline.stats).toMatchObject({ reordered: 1, concealedMs: 0, late: 0 });
  });

  it('it is dropped and counted if it comes too late', () => {
    const { out, timeline } = play([chunk(1), chunk(3), chunk(4), chunk(5), chunk(6), chunk(2), chunk(7)]);
    expect(out).toBe('100×20 70×20 300×20 400×20 500×20 600×20 700×20');
    expect(timeline.stats.late).toBe(1);
  });

  it('nothing is waited for with reorderMs 0', () => {
    const timeline = new Timeline({ ...OPTIONS, reorderMs: 0 });
    expect(heard([...timeline.push(chunk(1)), ...timeline.push(chunk(3))])).toBe('100×20 70×20 300×20');
  });

  it('flush gives up waiting, and the track may go on', () => {
    const timeline = new Timeline(OPTIONS);
    timeline.push(chunk(1));
    timeline.push(chunk(3));
    expect(heard(timeline.flush())).toBe('70×20 300×20');
    expect(heard(timeline.push(chunk(4)))).toBe('400×20');
  });

  it('a counter that runs over both tracks is not taken for loss', () => {
    const timeline = new Timeline(OPTIONS);
    const counts = [1, 3, 5, 7].map((sequence, i) => timeline.push(chunk(sequence, i * 20)).length);
    expect(counts).toEqual([1, 1, 1, 1]);
  });

  it('a track whose first chunk was lost begins with the first that came', () => {
    const { out, timeline } = play([chunk(2), chunk(3), chunk(4), chunk(5), chunk(1)]);
    expect(out).toBe('200×20 300×20 400×20 500×20');
    expect(timeline.originMs).toBe(20);
    expect(timeline.stats.late).toBe(1);
  });
});

describe('numbers that make no sense', () => {
  it('a duplicate is dropped, held or not, and is not late', () => {
    const { out, timeline } = play([chunk(1), chunk(1), chunk(3), chunk(3), chunk(2), chunk(2), chunk(3)]);
    expect(out).toBe('100×20 200×20 300×20');
    expect(timeline.stats.late).toBe(0);
  });

  it('a counter that wraps or starts again goes on', () => {
    expect(play([chunk(1, 0), chunk(65_535, 20), chunk(0, 40), chunk(1, 60)]).out).toBe(
      '100×20 -1828×20 0×20 100×20'.replace('-1828', '-100'),
    );
  });

  it('a time that is no number is joined on', () => {
    expect(play([chunk(1), chunk(2, Number.NaN), chunk(3)]).out).toBe('100×20 200×20 300×20');
  });

  it('one absurd sequence neither stops the track nor is lost', () => {
    const absurd = { ...chunk(3), sequence: Number.MAX_SAFE_INTEGER, atMs: 5000 };
    const { out } = play([
      chunk(1),
      chunk(2),
      absurd,
      chunk(4, 40),
      chunk(5, 60),
      chunk(6, 80),
      chunk(7, 100),
      chunk(8, 120),
    ]);
    expect(out).toMatch(/^100×20 200×20 400×20 500×20 600×20 .*300×20/);
    expect(out).toMatch(/800×20$/);
  });
});

describe('whatever comes', () => {
  const anyNumber = fc.oneof(fc.nat(300), fc.constantFrom(0, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE));
  const anyChunks = fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), anyNumber, anyNumber), { maxLength: 120 });

  it('no more comes out than was received and one gap of gapMaxMs for each chunk, and what is held is bounded', () => {
    fc.assert(
      fc.property(anyChunks, (chunks) => {
        const timeline = new Timeline({ ...OPTIONS, gapMaxMs: 500 });
        let received = 0;
        let given = 0;
        for (const [length, atMs, sequence] of chunks) {
          received += length;
          for (const stretch of timeline.push({ samples: new Int16Array(length).fill(7), atMs, sequence }))
            given += stretch.length;
          expect(given).toBeLessThanOrEqual(received + chunks.length * 4000);
        }
        // What was held is less than reorderMs and the chunk that was held first.
        const held = timeline.flush();
        expect(
          held
            .filter((stretch) => stretch[0] === 7 && stretch.every((sample) => sample === 7))
            .reduce((sum, each) => sum + each.length, 0),
        ).toBeLessThanOrEqual(480 + 400);
      }),
    );
  });

  it('any order within the reorder window gives what the right order gives', () => {
    const gapsMs = fc.array(fc.constantFrom(0, 0, 0, 0, 40, 100, 600), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(gapsMs, fc.infiniteStream(fc.integer({ min: 0, max: 3 })), (gaps, delays) => {
        let atMs = 0;
        const ordered = gaps.map((gapMs, i) => {
          atMs += gapMs + 20;
          return chunk(i + 1, atMs);
        });
        // Each chunk arrives up to three places late, that is 60 ms of audio.
        const arrival = ordered.map((each, i) => ({ each, place: i + (delays.next().value ?? 0) + 1e-3 * i }));
        const shuffled = arrival.sort((a, b) => a.place - b.place).map(({ each }) => each);
        const [whole, mixed] = [ordered, shuffled].map(
          (chunks) => play(chunks, new Timeline({ ...OPTIONS, gapMaxMs: 500 })).out,
        );
        expect(mixed).toBe(whole);
      }),
    );
  });

  it('the output is as long as the time from the origin to the last end, with loss, reordering and jitter', () => {
    const fates = fc.array(
      fc.record({
        lost: fc.boolean(),
        jitterMs: fc.integer({ min: -4, max: 4 }),
        delay: fc.integer({ min: 0, max: 2 }),
      }),
      {
        minLength: 5,
        maxLength: 80,
      },
    );
    fc.assert(
      fc.property(fates, (list) => {
        const sent = list.map(({ lost, jitterMs, delay }, i) => ({
          lost: lost && i > 0,
          each: chunk(i + 1, 1000 + i * 20 + jitterMs),
          place: i + delay + 1e-3 * i,
        }));
        const arrived = sent.filter(({ lost }) => !lost).sort((a, b) => a.place - b.place);
        const timeline = new Timeline(OPTIONS);
        const stretches = [...arrived.flatMap(({ each }) => timeline.push(each)), ...timeline.flush()];
        const totalMs = stretches.reduce((sum, stretch) => sum + stretch.length, 0) / 8;
        const lastEndMs = Math.max(...arrived.map(({ each }) => each.atMs)) + 20;
        expect(Math.abs(totalMs - (lastEndMs - (timeline.originMs ?? 0)))).toBeLessThanOrEqual(20);
      }),
    );
  });
});
