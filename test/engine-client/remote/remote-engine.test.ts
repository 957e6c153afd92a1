import { beforeEach, describe, expect, it } from 'vitest';
import type { TranscribeRequest } from '../../../src/engine-client/engine.ts';
import { RemoteEngine } from '../../../src/engine-client/remote/remote-engine.ts';
import { RemoteMember } from '../../../src/engine-client/remote/remote-member.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';
import { FakeManagedEngine } from '../../fakes/recogniser-pair.ts';
import { FakeRecogniser } from '../../fakes/remote-recogniser.ts';

const CHUNK_MS = 400;

let clock: FakeClock;
let embedded: FakeManagedEngine;
let far: FakeRecogniser;
let farther: FakeRecogniser;
let engine: RemoteEngine;
let metrics: Metrics;
let logged: string[];

interface MemberTerms {
  weight?: number;
  languages?: readonly string[];
  inFlightMax?: number | null;
}

function openEngine(...terms: MemberTerms[]): void {
  clock = new FakeClock();
  embedded = new FakeManagedEngine(clock);
  embedded.hear = ({ samples }) => ({ text: `embedded ${samples.length}`, tokens: [7] });
  far = new FakeRecogniser('far', clock);
  farther = new FakeRecogniser('farther', clock);
  metrics = new Metrics();
  logged = [];
  const log = createLog('info', { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const recognisers = [far, farther];
  const members = terms.map(({ weight = 1, languages = [], inFlightMax = null }, index) => {
    const recogniser = recognisers[index] as FakeRecogniser;
    const name = `server${index}`;
    const url = new URL(`http://${name}.example:8000/v1?key=secret`);
    return new RemoteMember({ recogniser, name, url, weight, languages, inFlightMax, clock, log, metrics });
  });
  engine = new RemoteEngine({ embedded, members, speech: null, clock, metrics });
}

function ask(urgency: TranscribeRequest['urgency'], extra: Partial<TranscribeRequest> = {}): Promise<string> {
  const dueInMs = urgency === 'batch' ? 60_000 : CHUNK_MS;
  const request = { samples: new Int16Array(1600), urgency, dueInMs, draft: [], stream: 1, ...extra };
  return engine.transcribe(request).then(
    ({ text }) => text,
    (error: { code: string }) => error.code,
  );
}

/** Asks, and lets `ms` pass. */
async function passing(ms: number, reading: Promise<string>): Promise<string> {
  await settle();
  await clock.run(ms, 50);
  return reading;
}

const partial = (extra: Partial<TranscribeRequest> = {}) => passing(10, ask('partial', extra));

async function bringDown(server: FakeRecogniser): Promise<void> {
  server.failure = 'failed';
  for (let stream = 900; stream < 903; stream++) await partial({ stream });
}

const finals = async () =>
  Object.fromEntries(
    (await metrics.recognisers.works.get()).values.map(({ labels, value }) => [
      `${labels['backend']} ${labels['reason']}`,
      value,
    ]),
  );

beforeEach(() => openEngine({}));

describe('a server that answers', () => {
  it('reads partials, finals and recordings, without drafts', async () => {
    expect(await partial({ draft: [1, 2] })).toBe('far 1600');
    expect(await passing(10, ask('final'))).toBe('far 1600');
    expect(await passing(10, ask('eager'))).toBe('far 1600');
    expect(await passing(10, ask('batch'))).toBe('far 1600');
    expect(embedded.transcribed).toEqual([]);
    expect(await finals()).toEqual({ 'server0 asked': 2 });
    const reading = engine.transcribe({ samples: new Int16Array(3), urgency: 'final', dueInMs: 1, draft: [4] });
    await passing(10, Promise.resolve(''));
    expect(await reading).toMatchObject({ tokens: [], logprobs: null });
  });

  it('leaves voice detection, turns and speech to the embedded engines', async () => {
    await engine.detect({ samples: new Int16Array(512), state: null });
    await engine.turn({ samples: new Int16Array(512), dueInMs: 100 });
    expect([embedded.detected.length, embedded.turns.length]).toEqual([1, 1]);
    expect(engine.voices).toBe(embedded.voices);
  });

  it('is told the language, and what is likely to be said', async () => {
    embedded.languages = ['en', 'de'];
    await partial({ language: 'de', hotWords: ['Trunkline'], context: 'A call.' });
    await partial();
    expect(far.asked[0]).toMatchObject({ language: 'de', hotWords: ['Trunkline'], context: 'A call.' });
    expect(far.asked[1]).not.toHaveProperty('language');
    expect(engine.abilities).toMatchObject({ hotWords: true, logprobs: false });
  });

  it('is told the only language of the embedded recogniser, which that one would take for granted', async () => {
    await partial();
    expect(far.asked[0]).toMatchObject({ language: 'en' });
  });

  it('is warmed up once, by a second of silence', async () => {
    await engine.start();
    engine.wake();
    await passing(10, Promise.resolve(''));
    expect(far.asked.map(({ samples }) => samples.length)).toEqual([16_000]);
  });

  it('is told to stop when nobody wants the answer any more, which is no failure', async () => {
    far.isHanging = true;
    for (let n = 0; n < 5; n++) {
      const given = new AbortController();
      const reading = ask('partial', { signal: given.signal });
      given.abort();
      expect(await reading).toBe('cancelled');
    }
    expect(far.aborted).toBe(5);
    far.isHanging = false;
    expect(await partial()).toBe('far 1600');
  });

  it('is closed with the engines', async () => {
    await engine.close();
    expect(far.isClosed).toBe(true);
  });
});

describe('a partial caption', () => {
  it('is stale after twice the time to the next one, and nobody else reads it', async () => {
    far.isHanging = true;
    const reading = ask('partial');
    await clock.run(2 * CHUNK_MS - 10);
    expect(far.aborted).toBe(0);
    await clock.run(20);
    expect(await reading).toBe('stale');
    expect([far.aborted, embedded.transcribed.length]).toEqual([1, 0]);
  });

  it('is stale when the server fails, and the next one is asked there again', async () => {
    far.failure = 'unusable';
    expect(await partial()).toBe('stale');
    far.failure = null;
    expect(await partial()).toBe('far 1600');
    expect(embedded.transcribed).toEqual([]);
  });

  it('comes less often the longer the server takes', async () => {
    expect(engine.load).toBe(0);
    far.answerMs = 300;
    for (let stream = 0; stream < 20; stream++) await passing(350, ask('partial', { stream }));
    expect(engine.load).toBeGreaterThan(0.7);
  });
});

describe('a final', () => {
  it('is read by the embedded recogniser as well when it is late, and the first text counts', async () => {
    far.isHanging = true;
    const reading = ask('final');
    await clock.run(1490);
    expect(embedded.transcribed).toEqual([]);
    expect(await passing(20, reading)).toBe('embedded 1600');
    expect(far.aborted).toBe(1);
    expect(await finals()).toEqual({ 'embedded hedge': 1 });
  });

  it('is hedged at 1.5 times what the slow answers of the server take', async () => {
    far.answerMs = 300;
    for (let stream = 0; stream < 10; stream++) await passing(350, ask('partial', { stream }));
    far.isHanging = true;
    const reading = ask('final');
    await clock.run(440);
    expect(embedded.transcribed).toEqual([]);
    expect(await passing(20, reading)).toBe('embedded 1600');
  });

  it('stays with the server where that is first after all, and the other reading is given up', async () => {
    far.answerMs = 1600;
    embedded.transcribeMs = 500;
    const reading = ask('final');
    await clock.run(1700);
    expect(await reading).toBe('far 1600');
    expect(embedded.pending).toBe(0);
    expect(await finals()).toEqual({ 'server0 asked': 1 });
  });

  it.each(['busy', 'refused', 'failed', 'unusable'] as const)(
    'is read by the embedded recogniser at once when the server is %s',
    async (failure) => {
      far.failure = failure;
      expect(await passing(10, ask('final'))).toBe('embedded 1600');
      expect(await finals()).toEqual({ 'embedded failed': 1 });
    },
  );

  it('comes from the server when the embedded engines fail', async () => {
    far.answerMs = 1600;
    embedded.failure = 'model_failed';
    const reading = ask('final');
    await clock.run(1700);
    expect(await reading).toBe('far 1600');
  });

  it('fails only when both fail', async () => {
    far.failure = 'failed';
    embedded.failure = 'unavailable';
    expect(await passing(10, ask('final'))).toBe('unavailable');
  });

  it('is given up by both when the call ends', async () => {
    far.isHanging = true;
    embedded.transcribeMs = 5000;
    const given = new AbortController();
    const reading = ask('final', { signal: given.signal });
    await clock.run(1600);
    given.abort();
    expect(await reading).toBe('cancelled');
    expect([far.aborted, embedded.pending]).toEqual([1, 0]);
  });
});

describe('a server that fails', () => {
  it('is left alone after three failures, is told of once, and tried again every 2 s with one partial', async () => {
    await bringDown(far);
    expect(far.asked).toHaveLength(3);
    expect(await partial()).toBe('embedded 1600');
    expect(await passing(10, ask('final'))).toBe('embedded 1600');
    expect(engine.load).toBe(embedded.load);
    await clock.run(2000);
    expect(await passing(10, ask('final', { stream: 2 }))).toBe('embedded 1600');
    expect(await partial({ stream: 3 })).toBe('stale');
    expect(await partial({ stream: 4 })).toBe('embedded 1600');
    expect(far.asked).toHaveLength(4);
    far.failure = null;
    await clock.run(2000);
    expect(await partial({ stream: 5 })).toBe('far 1600');
    expect(await partial({ stream: 6 })).toBe('far 1600');
    expect(logged).toEqual([
      'a server of ASR_URL is left alone: it was told to be failed',
      'a server of ASR_URL answers again',
    ]);
    expect(await metrics.registry.getSingleMetricAsString('trunkline_asr_backend_up')).toContain(' 1');
  });

  it('that answers no final in time is left alone as well', async () => {
    far.isHanging = true;
    for (let stream = 1; stream <= 3; stream++)
      expect(await passing(1600, ask('final', { stream }))).toMatch('embedded');
    await passing(10, ask('final', { stream: 4 }));
    expect(far.asked).toHaveLength(3);
    expect(await metrics.registry.getSingleMetricAsString('trunkline_asr_backend_up')).toContain(' 0');
  });

  it('is not tried by an utterance that the embedded recogniser reads', async () => {
    await bringDown(far);
    expect(await partial()).toBe('embedded 1600');
    far.failure = null;
    await clock.run(2000);
    expect(await partial()).toBe('embedded 1600');
    expect(await partial({ stream: 2 })).toBe('far 1600');
  });
});

describe('a busy server', () => {
  beforeEach(() => {
    far.failure = 'busy';
  });

  it('is left alone for as long as it wants, and no longer', async () => {
    far.retryAfterMs = 5000;
    expect(await partial()).toBe('stale');
    far.failure = null;
    await clock.run(4900);
    expect(await partial({ stream: 2 })).toBe('embedded 1600');
    await clock.run(100);
    expect(await partial({ stream: 3 })).toBe('far 1600');
  });

  it('is not down, but asked for half as much', async () => {
    for (let stream = 1; stream <= 5; stream++) await passing(1100, ask('partial', { stream }));
    expect(far.asked).toHaveLength(5);
    far.failure = null;
    far.isHanging = true;
    const readings = [10, 11, 12].map((stream) => ask('partial', { stream }));
    await settle();
    expect(far.asked).toHaveLength(6);
    await clock.run(1000);
    expect(await Promise.all(readings)).toEqual(['stale', 'embedded 1600', 'embedded 1600']);
  });
});

describe('several servers', () => {
  it('share the work by their weights', async () => {
    openEngine({ weight: 3 }, { weight: 1 });
    for (let stream = 0; stream < 8; stream++) await partial({ stream });
    expect([far.asked.length, farther.asked.length]).toEqual([6, 2]);
  });

  it('keep an utterance where it began, and go on with the other when that fails', async () => {
    openEngine({}, {});
    for (let n = 0; n < 4; n++) await partial();
    expect([far.asked.length, farther.asked.length]).toEqual([4, 0]);
    far.failure = 'failed';
    expect(await partial()).toBe('stale');
    expect(await partial()).toBe('farther 1600');
    expect(await passing(10, ask('final'))).toBe('farther 1600');
  });

  it('get what they understand', async () => {
    openEngine({ languages: ['de'] }, { languages: ['fr', 'en'] });
    expect(engine.languages).toEqual(['en', 'de', 'fr']);
    expect(await partial({ language: 'de' })).toBe('far 1600');
    expect(await partial({ language: 'en', stream: 2 })).toBe('farther 1600');
    expect(await partial({ language: 'fr', stream: 3 })).toBe('farther 1600');
  });

  it('stand in for each other where the embedded recogniser does not understand', async () => {
    openEngine({ languages: ['de'] }, { languages: ['de'] });
    far.isHanging = true;
    const reading = ask('final', { language: 'de' });
    await clock.run(1600);
    expect(await reading).toBe('farther 1600');
    farther.failure = 'failed';
    far.failure = 'failed';
    far.isHanging = false;
    expect(await passing(200, ask('final', { language: 'de', stream: 2 }))).toBe('unavailable');
    expect(embedded.transcribed).toEqual([]);
  });
});

describe('recordings', () => {
  it('take half of the places, and wait for one behind each other', async () => {
    openEngine({ inFlightMax: 4 });
    far.answerMs = 100;
    const readings = Array.from({ length: 5 }, (_, stream) => ask('batch', { stream }));
    await settle();
    expect(far.asked).toHaveLength(2);
    const caption = ask('partial', { stream: 9 });
    await settle();
    expect(far.asked).toHaveLength(3);
    await clock.run(400);
    expect(await Promise.all(readings)).toEqual(Array(5).fill('far 1600'));
    expect(await caption).toBe('far 1600');
    expect(embedded.transcribed).toEqual([]);
    expect(engine.batchMax).toBe(2);
  });

  it('wait for a busy server, and go to the embedded engines when it is down', async () => {
    far.failure = 'busy';
    const reading = ask('batch');
    await clock.run(300);
    far.failure = null;
    expect(await passing(2000, reading)).toBe('far 1600');
    far.failure = 'failed';
    expect(await passing(500, ask('batch'))).toBe('embedded 1600');
  });

  it('that nobody wants any more leave the line', async () => {
    openEngine({ inFlightMax: 1 });
    far.answerMs = 1000;
    const given = new AbortController();
    const first = ask('batch');
    const second = ask('batch', { signal: given.signal });
    await settle();
    given.abort();
    expect(await second).toBe('cancelled');
    await clock.run(1000);
    expect(await first).toBe('far 1600');
    expect([far.asked.length, clock.pending]).toEqual([1, 0]);
  });
});
