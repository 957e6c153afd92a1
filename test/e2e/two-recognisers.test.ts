/** A whole gateway with two recognisers, a quick one for partials and a slow one for finals: calls and recordings. */
import { afterEach, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { eventually } from '../helpers/eventually.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';

const RATE_HZ = 8000;
const WORD_MS = 200;

let gateway: GatewayProcess;
let feed: FeedReader | null = null;

const silence = (ms: number) => new Int16Array((ms * RATE_HZ) / 1000);

/** Digits of the pretend recognisers, with silence behind them. */
function say(digits: readonly number[], silentMs = 1500): number[] {
  const words = digits.flatMap((digit) =>
    Array.from({ length: (WORD_MS * RATE_HZ) / 1000 }, (_, i) =>
      Math.round(8000 * Math.sin((2 * Math.PI * (400 + 200 * digit) * i) / RATE_HZ)),
    ),
  );
  return [...words, ...silence(silentMs)];
}

async function open(environment: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({
    ASR_MODEL: 'dictation',
    ASR_FINAL_MODEL: 'slow-dictation',
    VAD_MODEL: 'tone',
    TTS_MODEL: 'tone',
    ENGINE_WORKERS: '1',
    JOIN_MS: '0',
    NODE_OPTIONS: `--import=${packagePath('test', 'fakes', 'slow-dictation.mjs')}`,
    ...environment,
  });
  feed = await readFeed(gateway.url);
}

const ready = () =>
  eventually(async () => {
    const found = await (await fetch(`${gateway.url}/v1/models/slow-dictation`)).json();
    expect(found).toMatchObject({ reads: 'finals', languages: ['en', 'de'] });
  });

/** Speaks into a call; resolves with its events when it is over. */
async function call(samples: readonly number[]): Promise<readonly FeedEvent[]> {
  const caller = new TwilioCaller({
    url: `${gateway.url.replace(/^http/, 'ws')}/twilio/media`,
    tracks: { inbound: Int16Array.from([...silence(300), ...samples]) },
    pace: 'realtime',
    clock: systemClock,
    callSid: 'CAtwo',
  });
  await caller.run();
  await feed?.until(({ type }) => type === 'call.ended');
  return feed?.events ?? [];
}

const finalsOf = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'caption' && event.final ? event.text : []));
const partialsOf = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'caption' && !event.final ? event.text : []));
const revisionsOf = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'revision' ? event.text : []));

afterEach(async () => {
  feed?.close();
  await gateway.stop();
});

describe('a gateway with two recognisers', () => {
  it('captions with the one and ends captions with the other, in order, and reads recordings with it', async () => {
    await open();
    await ready();
    const events = await call([...say([1, 2, 3, 4, 5]), ...say([6, 7, 8, 9])]);
    expect(partialsOf(events).some((text) => text.startsWith('one two'))).toBe(true);
    expect(finalsOf(events)).toEqual(['ONE TWO THREE FOUR FIVE', 'SIX SEVEN EIGHT NINE']);
    expect(revisionsOf(events)).toEqual([]);
    const form = new FormData();
    form.set('file', new Blob([writeWav([Int16Array.from(say([3, 2, 1]))], RATE_HZ)]), 'a.wav');
    const answer = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', body: form });
    expect(await answer.json()).toMatchObject({ text: 'THREE TWO ONE' });
    expect(await gateway.metrics()).not.toMatch(/^trunkline_final_fallbacks_total\{/m);
    expect(gateway.enginePids()).toHaveLength(2);
  });

  it('ends captions in time when the other one is slow, and revises them', async () => {
    await open({ SLOW_MS: '1500', FINAL_LATE_MS: '200' });
    await ready();
    const events = await call(say([1, 2, 3, 4, 5], 5000));
    expect(finalsOf(events)).toEqual(['one two three four five']);
    expect(revisionsOf(events)).toEqual(['ONE TWO THREE FOUR FIVE']);
    expect(await gateway.metrics()).toMatch(/^trunkline_final_fallbacks_total\{reason="(?:busy|late)"\} 1$/m);
  });

  it('ends captions when the other one dies of them, and goes on with it', async () => {
    await open({ SLOW_DIES_OVER_S: '1.3' });
    await ready();
    const events = await call([...say([1, 2, 3, 4, 5, 6, 7]), ...say([8, 9], 4000)]);
    expect(finalsOf(events)[0]).toBe('one two three four five six seven');
    expect(finalsOf(events)).toHaveLength(2);
    expect(finalsOf(events)[1]?.toLowerCase()).toBe('eight nine');
  });
});
