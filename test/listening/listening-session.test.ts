import { describe, expect, it } from 'vitest';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { TrunklineError } from '../../src/foundation/errors.ts';
import { settle } from '../fakes/clock.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { SessionHarness } from './session-harness.ts';

describe('a listening session', () => {
  it('tells speech, what is being said and finals by silence, in ms of its audio', async () => {
    const harness = new SessionHarness();
    await harness.say(concat(silence(320), spoken([1, 2, 3, 4]), silence(900)));
    expect(harness.course).toEqual(['W1 w2 w3 w4.']);
    expect(harness.speech.map(([type]) => type)).toEqual(['speech.started', 'speech.stopped']);
    expect(harness.captions.some(({ event }) => !event.final)).toBe(true);
    const [final] = harness.finals;
    expect(final).toMatchObject({ channel: 0, isFlushed: false, event: { utterance: 1, startMs: 320 } });
    expect(harness.session.receivedMs).toBe(320 + 950 + 900);
  });

  it('gives finals at a flush without waiting, and says that they are its own', async () => {
    const harness = new SessionHarness({ endpointMs: null });
    await harness.say(concat(spoken([5]), silence(1500), spoken([6])));
    expect(harness.course).toEqual([]);
    harness.session.flush();
    await harness.clock.run(50);
    expect(harness.course).toEqual(['W5 w6.', 'flush 1']);
    expect(harness.finals[0]?.isFlushed).toBe(true);
    expect(harness.flushes[0]?.atMs).toBe(1900);
  });

  it('answers each flush in its order, also where nothing was said', async () => {
    const harness = new SessionHarness();
    harness.session.flush();
    await harness.say(concat(spoken([1]), silence(900)));
    harness.session.flush();
    harness.session.flush();
    await harness.clock.run(50);
    expect(harness.course).toEqual(['flush 0', 'W1.', 'flush 1', 'flush 0']);
  });

  it('goes on counting time and utterances behind a flush', async () => {
    const harness = new SessionHarness();
    await harness.say(concat(silence(500), spoken([1, 2])));
    harness.session.flush();
    await harness.say(concat(silence(550), spoken([3, 4]), silence(900)));
    expect(harness.course).toEqual(['W1 w2.', 'flush 1', 'W3 w4.']);
    const times = harness.finals.map(({ event }) => [event.utterance, event.startMs]);
    expect(times.map(([utterance]) => utterance)).toEqual([1, 2]);
    expect(Math.abs((times[0]?.[1] ?? 0) - 500)).toBeLessThanOrEqual(32);
    expect(Math.abs((times[1]?.[1] ?? 0) - 1500)).toBeLessThanOrEqual(32);
  });

  it('takes what comes behind a flush only when its finals are told', async () => {
    const harness = new SessionHarness({ endpointMs: null });
    harness.engine.transcribeMs = 500;
    await harness.say(spoken([1, 2]));
    harness.session.flush();
    await harness.say(spoken([3, 4]));
    harness.session.flush();
    await harness.clock.run(3000);
    expect(harness.course).toEqual(['W1 w2.', 'flush 1', 'W3 w4.', 'flush 1']);
    expect(harness.pauses.slice(0, 2)).toEqual([true, false]);
  });

  it('forgets at a reset what is not final, and nothing else', async () => {
    const harness = new SessionHarness();
    await harness.say(concat(spoken([1]), silence(900), spoken([7])));
    harness.session.reset();
    await harness.say(concat(silence(300), spoken([8]), silence(900)));
    harness.session.flush();
    await harness.clock.run(50);
    expect(harness.course).toEqual(['W1.', 'W8.', 'flush 1']);
    expect(harness.finals.map(({ event }) => event.utterance)).toEqual([1, 2]);
  });

  it('takes another endpoint from the next utterance on', async () => {
    const harness = new SessionHarness({ endpointMs: 1500 });
    await harness.say(concat(spoken([1]), silence(700), spoken([2])));
    harness.session.setEndpointMs(400);
    await harness.say(concat(silence(700), spoken([3]), silence(1600)));
    expect(harness.course).toEqual(['W1 w2 w3.']);
    await harness.say(concat(spoken([4]), silence(600), spoken([5]), silence(600)));
    expect(harness.course).toEqual(['W1 w2 w3.', 'W4.', 'W5.']);
  });

  it('ends no utterance by less silence than lies between words', async () => {
    const harness = new SessionHarness({ endpointMs: 10 });
    await harness.say(concat(spoken([1]), silence(200), spoken([2]), silence(400)));
    expect(harness.course).toEqual(['W1 w2.']);
  });

  it('tells the last finals at its end, and nothing behind it', async () => {
    const harness = new SessionHarness();
    await harness.say(spoken([1, 2]));
    await harness.end();
    expect(harness.course).toEqual(['W1 w2.']);
    harness.session.push(samplesToPcm16(concat(spoken([3]), silence(900))));
    harness.session.flush();
    await harness.clock.run(1000);
    expect(harness.course).toEqual(['W1 w2.']);
  });

  it('tells nothing after it was closed, and whoever waits for its end is told', async () => {
    const harness = new SessionHarness();
    harness.engine.transcribeMs = 500;
    await harness.say(spoken([1, 2]));
    const end = harness.session.end();
    harness.session.close();
    await end;
    await harness.clock.run(2000);
    expect(harness.course).toEqual([]);
  });

  it('has the client paused while the engine is behind, and read again when it is not', async () => {
    const harness = new SessionHarness();
    harness.engine.detectMs = 100_000;
    harness.session.push(samplesToPcm16(silence(12_000)));
    await new Promise((resolve) => void setImmediate(resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve));
    expect(harness.pauses).toEqual([true]);
    harness.engine.detectMs = 0;
    await harness.clock.run(110_000, 10_000);
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => void setImmediate(resolve));
      await harness.clock.run(10);
    }
    expect(harness.pauses.at(-1)).toBe(false);
  });

  it('does what is asked in a step before what was asked for meanwhile', async () => {
    const harness = new SessionHarness({ endpointMs: null });
    harness.engine.transcribeMs = 200;
    await harness.say(spoken([1]));
    harness.session.flush();
    harness.session.inOrder(() => harness.session.flush());
    await harness.say(spoken([2]));
    harness.session.flush();
    await harness.clock.run(2000);
    expect(harness.course).toEqual(['W1.', 'flush 1', 'flush 0', 'W2.', 'flush 1']);
  });

  it('names the language when the recogniser is known, and the words that are expected', async () => {
    const harness = new SessionHarness({ language: 'English', hotWords: ['Trunkline'] });
    await settle();
    await harness.say(concat(spoken([1]), silence(900)));
    expect(harness.engine.transcribed.map(({ language }) => language)).toContain('en');
    expect(harness.engine.transcribed[0]?.hotWords).toEqual(['Trunkline']);
  });

  it('fails when more messages come than a paused client can have sent', async () => {
    const harness = new SessionHarness();
    harness.engine.detectMs = 1_000_000;
    harness.session.push(samplesToPcm16(silence(7000)));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve));
    for (let n = 0; n < 20_000; n++) harness.session.push(new Uint8Array(2));
    expect(harness.failures).toHaveLength(1);
    expect(harness.failures[0]).toBeInstanceOf(TrunklineError);
    expect(harness.failures[0]).toMatchObject({ code: 'too_many_requests' });
  });

  it('takes another format until audio comes', async () => {
    const harness = new SessionHarness();
    harness.session.setFormat({ encoding: 'linear16', rateHz: 16_000, channels: 2 });
    const one = spoken([1]);
    const both = Int16Array.from({ length: 2 * one.length }, (_, at) => (at % 2 === 0 ? (one[at >> 1] ?? 0) : 0));
    await harness.say(both);
    harness.session.setFormat({ encoding: 'mulaw', rateHz: 8000, channels: 1 });
    harness.session.flush();
    await harness.clock.run(50);
    expect(harness.course).toEqual(['W1.', 'flush 1 0']);
    expect(() => harness.session.setFormat({ encoding: 'mulaw', rateHz: 1, channels: 1 })).not.toThrow();
  });
});

describe('channels of a listening session', () => {
  it('are told apart, and flushed together', async () => {
    const harness = new SessionHarness({ format: { channels: 2 } });
    const left = concat(spoken([1, 2]), silence(1000));
    const right = concat(silence(600), spoken([3, 4]), silence(400));
    const length = Math.min(left.length, right.length);
    const both = new Int16Array(2 * length);
    for (let at = 0; at < length; at++) both.set([left[at] ?? 0, right[at] ?? 0], 2 * at);
    await harness.say(both);
    harness.session.flush();
    await harness.clock.run(50);
    const finals = harness.finals.map(({ event, channel }) => [channel, event.text]);
    expect(finals).toEqual([
      [0, 'W1 w2.'],
      [1, 'W3 w4.'],
    ]);
    expect(harness.flushes[0]?.finals).toEqual([1, 1]);
  });
});
