/** Sentences that are played while they are made. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../src/engine-client/engine.ts';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import type { Playback } from '../../../src/protocols/dialect.ts';
import { metricValue } from '../harness.ts';
import { CHAR_MS, Speaking, turns } from '../speaking.ts';

const TEXT = 'One two three four. Five six seven eight nine. Ten eleven twelve.';
const LONG = 'This is a sentence of many words that takes some seconds to be said to its very end.';
const SAMPLES_PER_MS = 16;
/** The last frame of a stretch needs samples that follow. */
const HELD_MS = FRAME_MS;

/** Stretches of `ms`. */
const every = (ms: number) => (samples: Int16Array) => {
  const step = ms * SAMPLES_PER_MS;
  return Array.from({ length: Math.ceil(samples.length / step) - 1 }, (_, n) => (n + 1) * step);
};

const cutsAt = (shares: readonly number[]) => (samples: Int16Array) =>
  shares.map((share) => Math.floor(share * samples.length)).toSorted((a, b) => a - b);

/** What left for the carrier, in order. */
const sentBy = (call: Speaking) =>
  call.sent.map(({ command }) => (command.type === 'audio' ? Buffer.from(command.bytes).toString('hex') : command));

const playbacks = fc.constantFrom<Playback>('buffered', 'paced');
const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });

describe('a sentence that is told in stretches', () => {
  it('gives the frames, the heard text and the events of the whole one, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        playbacks,
        shares,
        fc.array(fc.integer({ min: 10, max: 600 }), { maxLength: 4 }),
        async (playback, at, steps) => {
          const [whole, cut] = [new Speaking({ playback }), new Speaking({ playback })];
          cut.engine.cuts = cutsAt(at);
          for (const call of [whole, cut]) {
            call.voice.say(TEXT);
            for (const [n, ms] of steps.entries()) {
              await call.run(ms);
              if (n === 0) call.voice.onCallerSpeech('started');
              if (n === 1) call.voice.onCallerSpeech('stopped');
            }
            if (steps.length > 2) call.voice.interrupt();
            await call.run(3000);
          }
          expect(cut.events).toEqual(whole.events);
          expect(sentBy(cut)).toEqual(sentBy(whole));
          expect(cut.clock.pending).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('never claims more than was played, however late its stretches are and whenever it is interrupted', async () => {
    await fc.assert(
      fc.asyncProperty(
        playbacks,
        shares,
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 10, max: 4000 }),
        async (playback, at, stretchMs, interruptMs) => {
          const call = new Speaking({ playback });
          call.engine.cuts = cutsAt(at);
          call.engine.stretchMs = stretchMs;
          call.voice.say(TEXT);
          await call.run(interruptMs);
          const playedMs = playback === 'paced' ? call.frames * FRAME_MS : call.player.heard.length * FRAME_MS;
          const heard = call.voice.interrupt() ?? call.spoken[0];
          expect(TEXT.startsWith(heard?.heardText ?? '?')).toBe(true);
          expect(heard?.playedMs ?? 0).toBeLessThanOrEqual(playedMs + FRAME_MS);
          // A character is a frame here, but for the spaces behind sentences.
          expect((heard?.heardText.length ?? 0) * CHAR_MS).toBeLessThanOrEqual((heard?.playedMs ?? 0) + 3 * CHAR_MS);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('begins with its first stretch', async () => {
    const call = new Speaking();
    call.engine.speakMs = 40;
    call.engine.cuts = every(200);
    call.engine.stretchMs = 50;
    call.voice.say(LONG);
    await call.run(60);
    expect(call.framesAtMs[0]).toBe(40);
    expect(call.story).toEqual(['speaking u1']);
    await call.run(4000);
    expect(call.story.slice(1)).toEqual([`heard "${LONG}"`, `spoken u1 "${LONG}"`]);
    expect(call.player.heard).toHaveLength(LONG.length);
  });

  it('has the next one made when it has been made, not when it has been heard', async () => {
    const call = new Speaking();
    call.engine.cuts = every(100);
    call.engine.stretchMs = 10;
    call.voice.say(`${LONG} ${TEXT}`);
    await call.run(100);
    expect(call.engine.spoken).toHaveLength(1);
    await call.run(200);
    expect(call.engine.spoken.length).toBeGreaterThan(1);
  });
});

describe('an engine that is late in the middle of a sentence', () => {
  const late = (playback: Playback): Speaking => {
    const call = new Speaking({ playback });
    call.engine.cuts = every(200);
    call.engine.stretchMs = 500;
    call.voice.say(LONG);
    return call;
  };

  it('makes a paced carrier wait, and sends it no burst afterwards', async () => {
    const call = late('paced');
    await call.run(10_000);
    const gapsMs = call.framesAtMs.slice(1).map((atMs, n) => atMs - (call.framesAtMs[n] ?? 0));
    expect(Math.min(...gapsMs)).toBe(FRAME_MS);
    expect(gapsMs.filter((ms) => ms > FRAME_MS)).toHaveLength(8);
    expect(Math.max(...gapsMs)).toBe(500 - (200 - HELD_MS) + FRAME_MS);
    expect(call.frames).toBe(LONG.length);
    expect(call.spoken).toMatchObject([{ heardText: LONG, playedMs: LONG.length * CHAR_MS }]);
    expect(call.clock.pending).toBe(0);
  });

  it.each(['paced', 'buffered'] as const)('is not counted as heard: %s', async (playback) => {
    const call = late(playback);
    await call.run(480);
    expect(call.voice.interrupt()).toMatchObject({ playedMs: 200 - HELD_MS });
    expect(call.spoken[0]?.heardText.length).toBeLessThanOrEqual(200 / CHAR_MS);
    await turns();
    expect(call.clock.pending).toBe(0);
  });

  it.each(['paced', 'buffered'] as const)('may be paused and resumed in between: %s', async (playback) => {
    const call = late(playback);
    await call.run(300);
    call.voice.onCallerSpeech('started');
    await call.run(300);
    call.voice.onCallerSpeech('stopped');
    await call.run(10_000);
    expect(call.spoken).toMatchObject([{ heardText: LONG, playedMs: LONG.length * CHAR_MS, interrupted: false }]);
    if (playback === 'buffered') expect(call.player.heard).toHaveLength(LONG.length);
  });
});

describe('a sentence that is still being made', () => {
  it('is given up by an interruption, and nothing of it comes later', async () => {
    const call = new Speaking();
    call.engine.cuts = every(100);
    call.engine.stretchMs = 100;
    call.voice.say(LONG);
    await call.run(250);
    expect(call.engine.pending).toBe(1);
    call.voice.interrupt();
    await turns();
    expect(call.engine.pending).toBe(0);
    call.engine.cuts = () => [];
    call.voice.say('New text.');
    await call.run(2000);
    expect(call.story.slice(-2)).toEqual(['heard "New text."', 'spoken u2 "New text."']);
    expect(call.player.heard.length).toBe(Math.floor(250 / FRAME_MS) + 'New text.'.length - 1);
  });

  it('is made to its end, and kept, where little of it is missing', async () => {
    const call = new Speaking();
    call.engine.cuts = every(100);
    call.engine.stretchMs = 10;
    call.voice.say('A short one that is said.');
    await call.run(20);
    call.voice.interrupt();
    await call.run(100);
    expect(call.engine.pending).toBe(0);
    call.voice.say('A short one that is said.');
    await call.run(2000);
    expect(call.engine.spoken).toHaveLength(1);
    expect(call.player.heard.length).toBeGreaterThanOrEqual(25);
  });

  it('keeps the call from being drained', async () => {
    const call = new Speaking();
    call.engine.cuts = every(200);
    call.engine.stretchMs = 1000;
    call.voice.say('Twenty characters...');
    let drainedAtMs = 0;
    void call.voice.drained().then(() => {
      drainedAtMs = call.clock.nowMs();
    });
    await call.run(900);
    expect([call.voice.speaking, drainedAtMs]).toEqual([true, 0]);
    await call.run(1000);
    expect(drainedAtMs).toBe(1000 + 200 + HELD_MS);
  });

  it('ends where the engine fails, says no more than that, and the next one follows', async () => {
    const skippedBefore = await metricValue('trunkline_sentences_skipped_total', {});
    const call = new Speaking();
    call.engine.cuts = (samples) => {
      if (samples.length < LONG.length * CHAR_MS * SAMPLES_PER_MS) return [];
      return [samples.length >> 1, Number.NaN];
    };
    const { speak } = call.engine;
    call.engine.speak = async (request) => {
      const { samples, rateHz, cost } = await speak.call(call.engine, { ...request, onSound: () => undefined });
      if (request.text !== LONG) return { samples: new Int16Array(3200).fill(500), rateHz, cost };
      request.onSound?.(new Int16Array(LONG.length * CHAR_MS * 8).fill(500), rateHz);
      throw new EngineError('model_failed', `it broke after ${samples.length}`);
    };
    call.voice.say(`${LONG} And more.`);
    await call.run(5000);
    const [first = '', second] = call.events.flatMap((event) => (event.type === 'heard' ? [event.text] : []));
    expect(second).toBe('And more.');
    expect(LONG.startsWith(first.trim())).toBe(true);
    expect(first.length).toBeLessThanOrEqual(LONG.length / 2 + 1);
    expect(call.spoken).toMatchObject([{ heardText: `${first}And more.`, interrupted: false }]);
    expect(await metricValue('trunkline_sentences_skipped_total', {})).toBe(skippedBefore + 1);
  });
});
