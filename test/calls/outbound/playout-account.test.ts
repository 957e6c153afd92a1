import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import { FRAME_BYTES, Line, sound } from './playout-line.ts';

describe('the account of what was heard', () => {
  const frames = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 6 });
  const line = fc.record({
    buffered: fc.boolean(),
    leadMs: fc.integer({ min: 40, max: 1000 }),
    wayMs: fc.integer({ min: 0, max: 150 }),
  });

  it('never claims more than the carrier had played, and never less than before', () => {
    fc.assert(
      fc.property(
        frames,
        line,
        fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 12 }),
        (lengths, options, steps) => {
          const playing = new Line(options);
          const sounds = lengths.map((length, n) => sound(String(n), length));
          for (const each of sounds) playing.push(each);
          let before = 0;
          for (const [n, ms] of steps.entries()) {
            playing.clock.advance(ms);
            if (n % 3 === 1) playing.playout.pause();
            if (n % 3 === 2) playing.playout.resume();
            const gone = sounds.filter(({ name }) => playing.log.some((entry) => entry.startsWith(`heard ${name} `)));
            const goneMs = gone.reduce((sum, { bytes }) => sum + (bytes.length / FRAME_BYTES) * FRAME_MS, 0);
            const heardMs = goneMs + sounds.reduce((sum, each) => sum + playing.playout.heardMs(each), 0);
            // A frame that is being cut off counts neither way.
            expect(heardMs).toBeGreaterThan(before - FRAME_MS);
            if (options.buffered && options.wayMs === 0)
              expect(heardMs).toBeLessThanOrEqual(playing.player.heard.length * FRAME_MS + FRAME_MS);
            before = heardMs;
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('plays every frame once, whatever pauses there are, on a line without delay', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 }), (lengths, steps) => {
        const playing = new Line();
        lengths.forEach((length, n) => {
          playing.push(sound(String(n), length, n));
        });
        for (const frames of steps) {
          playing.clock.advance(frames * FRAME_MS);
          playing.playout.pause();
          playing.clock.advance(FRAME_MS * 3);
          playing.playout.resume();
        }
        playing.clock.advance(20_000);
        expect(playing.player.heard).toEqual(lengths.flatMap((length, n) => Array(length).fill(n)));
        expect(playing.playout.idle).toBe(true);
        expect(playing.clock.pending).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('is true to what the caller heard of sounds that grow, whatever pauses there are and however late they are', () => {
    const growth = fc.record({ frames: fc.integer({ min: 0, max: 12 }), waitMs: fc.integer({ min: 0, max: 300 }) });
    const growing = fc.array(fc.array(growth, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(growing, fc.boolean(), fc.integer({ min: 40, max: 1000 }), (lengths, buffered, leadMs) => {
        const playing = new Line({ buffered, leadMs });
        let turn = 0;
        for (const [level, parts] of lengths.entries()) {
          const each = sound(String(level), 0);
          const open = playing.playout.open(each);
          for (const { frames, waitMs } of parts) {
            open.add(new Uint8Array(frames * FRAME_BYTES).fill(level));
            playing.clock.advance(waitMs);
            turn++;
            if (buffered && turn % 4 === 1) playing.playout.pause();
            if (buffered && turn % 4 === 3) playing.playout.resume();
            const before = lengths.slice(0, level).flat();
            const goneMs = FRAME_MS * before.reduce((sum, part) => sum + part.frames, 0);
            if (buffered && playing.log.filter((entry) => entry.startsWith('heard')).length === level) {
              const heardMs = goneMs + playing.playout.heardMs(each);
              expect(heardMs).toBeLessThanOrEqual((playing.player.heard.length + 1) * FRAME_MS);
            }
          }
          open.end();
        }
        playing.playout.resume();
        playing.clock.advance(20_000);
        const gapsMs = playing.framesAtMs.slice(1).map((atMs, n) => atMs - (playing.framesAtMs[n] ?? 0));
        if (!buffered) expect(gapsMs.every((ms) => ms >= FRAME_MS)).toBe(true);
        const expected = lengths.flatMap((parts, level) => parts.flatMap(({ frames }) => Array(frames).fill(level)));
        if (buffered) expect(new Set(playing.player.heard)).toEqual(new Set(expected));
        else expect(playing.framesAtMs).toHaveLength(expected.length);
        expect(playing.log.filter((entry) => entry.startsWith('heard'))).toHaveLength(lengths.length);
        expect(playing.playout.idle).toBe(true);
        expect(playing.clock.pending).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
