import { beforeEach, describe, expect, it } from 'vitest';
import type { TranscribeRequest } from '../../../src/engine-client/engine.ts';
import { RemoteEngine } from '../../../src/engine-client/remote/remote-engine.ts';
import { RemoteMember } from '../../../src/engine-client/remote/remote-member.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';
import { FakeManagedEngine } from '../../fakes/recogniser-pair.ts';
import { FakeRecogniser } from '../../fakes/remote-recogniser.ts';

const SPEECH = 32_000;

let clock: FakeClock;
let embedded: FakeManagedEngine;
let far: FakeRecogniser;
let engine: RemoteEngine;
let metrics: Metrics;
let logged: string[];
/** What the embedded recogniser makes of anything. */
let words: string;

function open({ languages = [], inFlightMax = 8 }: { languages?: readonly string[]; inFlightMax?: number } = {}): void {
  clock = new FakeClock();
  embedded = new FakeManagedEngine(clock);
  words = 'I would like to book a table.';
  embedded.hear = () => ({ text: words, tokens: [7] });
  far = new FakeRecogniser('far', clock);
  far.text = '';
  metrics = new Metrics();
  logged = [];
  const log = createLog('info', { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const url = new URL('http://far.example:8000/v1');
  const terms = { name: 'far', url, weight: 1, languages, inFlightMax };
  const member = new RemoteMember({ ...terms, recogniser: far, clock, log, metrics });
  engine = new RemoteEngine({ embedded, members: [member], speech: null, clock, metrics });
}

async function ask(urgency: TranscribeRequest['urgency'], extra: Partial<TranscribeRequest> = {}): Promise<string> {
  const request = { samples: new Int16Array(SPEECH), urgency, dueInMs: 400, draft: [], ...extra };
  const reading = engine.transcribe(request).then(
    ({ text }) => text,
    (error: { code: string }) => error.code,
  );
  await settle();
  await clock.run(20, 5);
  return reading;
}

/** `missed` answers by reason. */
async function counted(): Promise<Record<string, number>> {
  const { values } = await metrics.remoteEmpty.get();
  return Object.fromEntries(values.map(({ labels, value }) => [`${labels['reason']} ${labels['missed']}`, value]));
}

async function putAside(): Promise<void> {
  for (let n = 0; n < 3; n++) await ask('final');
}

beforeEach(() => open());

describe('speech that a server has no words for', () => {
  it.each(['final', 'eager', 'batch'] as const)('is read by the embedded recogniser: %s', async (urgency) => {
    expect(await ask(urgency)).toBe(words);
    expect(await counted()).toEqual({ 'empty yes': 1 });
  });

  it('is told apart in the count of finals', async () => {
    await ask('final');
    expect((await metrics.recognisers.works.get()).values).toMatchObject([
      { labels: { backend: 'embedded', reason: 'empty' }, value: 1 },
    ]);
  });

  it.each([
    ['Thanks for watching! Please subscribe.', 'invented'],
    ['so '.repeat(60), 'too_fast'],
  ])('is that as well where it answers what nobody said: %s', async (text, reason) => {
    far.text = text;
    expect(await ask('final')).toBe(words);
    expect(await counted()).toEqual({ [`${reason} yes`]: 1 });
    expect(await ask('partial')).toBe('stale');
  });

  it('keeps its words where the embedded recogniser hears the same', async () => {
    far.text = 'Thanks for watching!';
    words = 'thanks for watching';
    for (let n = 0; n < 5; n++) expect(await ask('final')).toBe(words);
    expect(await counted()).toEqual({ 'invented no': 5 });
    expect(far.asked).toHaveLength(5);
  });

  it('stays without where nobody else can read it', async () => {
    open({ languages: ['de'] });
    far.text = 'Untertitelung des ZDF, 2020';
    expect(await ask('final', { language: 'de' })).toBe('');
    expect(await ask('batch', { language: 'de' })).toBe('');
    open();
    embedded.failure = 'model_failed';
    expect(await ask('final')).toBe('');
  });

  it('may be the beginning of a sentence, of which a partial caption has none yet', async () => {
    expect(await ask('partial')).toBe('');
    expect(embedded.transcribed).toEqual([]);
  });

  it('does not win a race against the embedded recogniser', async () => {
    far.answerMs = 1600;
    embedded.transcribeMs = 500;
    const reading = engine.transcribe({ samples: new Int16Array(SPEECH), urgency: 'final', dueInMs: 400, draft: [] });
    await clock.run(2100, 50);
    expect((await reading).text).toBe(words);
    expect(await counted()).toEqual({ 'empty yes': 1 });
  });
});

describe('a server that has no words', () => {
  it('for coughs and noise, of which the embedded recogniser makes nothing either, is asked as ever', async () => {
    words = '';
    for (let n = 0; n < 30; n++) expect(await ask('final')).toBe('');
    expect(far.asked).toHaveLength(30);
    expect(await counted()).toEqual({ 'empty no': 30 });
  });

  it('for speech, three times in a row, is left alone, although it answers', async () => {
    await putAside();
    expect(await ask('final')).toBe(words);
    expect(far.asked).toHaveLength(3);
    expect(engine.report.servers).toMatchObject([{ state: 'open' }]);
    expect(await metrics.registry.getSingleMetricAsString('trunkline_asr_backend_up')).toContain(' 0');
    expect(logged.join()).toContain('left alone: it had no words for speech');
  });

  it('for one in two is left alone, however many partial captions it has words for', async () => {
    for (let n = 0; n < 10; n++) {
      far.text = 'Hello.';
      for (let partials = 0; partials < 5; partials++) await ask('partial');
      await ask('final');
      far.text = '';
      await ask('final');
    }
    expect(engine.report.servers).toMatchObject([{ state: 'open' }]);
  });

  it('is tried with a partial caption every 2 s, and is back when that has words', async () => {
    await putAside();
    await clock.run(2000);
    expect(await ask('partial')).toBe('stale');
    expect(await ask('partial')).toBe(words);
    expect(far.asked).toHaveLength(4);
    far.text = 'Hello.';
    await clock.run(2000);
    expect(await ask('partial')).toBe('Hello.');
    expect(await ask('final')).toBe('Hello.');
    expect(logged.at(-1)).toBe('a server of ASR_URL answers again');
  });

  it('for the silence of its first run is not told of', async () => {
    await engine.start();
    await clock.run(100);
    expect([far.asked.length, logged]).toEqual([1, []]);
  });
});

describe('a piece of a recording', () => {
  it('gives its place to a call, and is sent again', async () => {
    open({ inFlightMax: 1 });
    far.text = 'Hello.';
    far.answerMs = 1000;
    const batch = engine.transcribe({ samples: new Int16Array(SPEECH), urgency: 'batch', dueInMs: 60_000, draft: [] });
    await settle();
    const final = engine.transcribe({ samples: new Int16Array(SPEECH), urgency: 'final', dueInMs: 400, draft: [] });
    await clock.run(50);
    expect([far.asked.length, far.aborted]).toEqual([2, 1]);
    await clock.run(3000, 50);
    expect([(await final).text, (await batch).text]).toEqual(['Hello.', 'Hello.']);
    expect(far.asked.map(({ urgency }) => urgency)).toEqual(['batch', 'final', 'batch']);
    expect(embedded.transcribed).toEqual([]);
  });

  it('does not make partial captions of calls come less often', async () => {
    open({ inFlightMax: 2 });
    far.isHanging = true;
    const given = new AbortController();
    const batch = ask('batch', { signal: given.signal });
    await settle();
    expect(engine.load).toBe(0);
    given.abort();
    expect(await batch).toBe('cancelled');
  });
});
