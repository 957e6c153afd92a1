/**
 * Whole calls with Moonshine's partials and Qwen3-ASR's finals. Both models are tiny and say nonsense; everything else
 * must be right.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { expectAsDescribed, finalsOf, partialsOf, RecogniserCalls, revisionsOf, say } from './recogniser-calls.ts';

const MOONSHINE = packagePath('fixtures', 'models', 'moonshine-streaming', 'ort-split');
const QWEN = packagePath('fixtures', 'models', 'qwen3-asr', 'float');
const LONG = say([1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7], 2500);
const SHORT = say([4, 5, 6, 7], 2500);

let calls: RecogniserCalls;
afterEach(() => calls.close());

async function open(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  calls = await RecogniserCalls.open({
    ASR_MODEL: MOONSHINE,
    ASR_FINAL_MODEL: QWEN,
    JOIN_MS: '0',
    NODE_OPTIONS: `--import=${packagePath('test', 'fakes', 'fragile-decoder.mjs')}`,
    ...environment,
  });
  await Promise.all([calls.ready('ort-split'), calls.ready('float')]);
}

/** What Qwen3-ASR alone says of a recording. */
async function readings(samples: readonly number[]): Promise<string> {
  return (await calls.transcribe(samples)).body['text'] as string;
}

const gapsOf = (events: readonly FeedEvent[]) => events.filter(({ type }) => type === 'gap');
const languagesOf = (events: readonly FeedEvent[]) =>
  events.flatMap((event) => (event.type === 'language' && event.by !== 'heard' ? [event.language] : []));

describe('Moonshine streaming with Qwen3-ASR', () => {
  it('captions with the one, ends captions with the other, and changes its language in the call', async () => {
    await open();
    const caller = calls.caller([...SHORT, ...LONG], { parameters: { language: 'en' } });
    const run = caller.run();
    await calls.feed.until((event) => event.type === 'caption' && event.final);
    expect(await calls.change(caller.callSid, { language: 'Welsh' })).toMatchObject({ status: 400 });
    expect(await calls.change(caller.callSid, { language: 'Japanese' })).toMatchObject({ status: 200 });
    await run;
    const events = await calls.endOf(caller);
    expectAsDescribed(events);
    expect(languagesOf(events)).toEqual(['en', 'ja']);
    expect(partialsOf(events).length).toBeGreaterThan(2);
    expect(finalsOf(events)).toHaveLength(2);
    expect(await calls.fallbacks()).toBe(0);
    expect(gapsOf(events)).toEqual([]);
    expect(await readings(LONG)).not.toBe('');
  });

  it('ends captions in time when its finals are late, and revises them', async () => {
    await open({ DECODER_RUN_MS: '400', FINAL_LATE_MS: '200' });
    const events = await calls.call([...LONG, ...say([], 3000)]);
    expectAsDescribed(events);
    expect(finalsOf(events)).toHaveLength(1);
    expect(revisionsOf(events)).toHaveLength(1);
    expect(await calls.fallbacks()).toBe(1);
  });

  it('goes on through deaths in the loop of a text', async () => {
    await open({ DECODER_DIES_OVER: '45' });
    const events = await calls.call([...LONG, ...SHORT, ...LONG]);
    expectAsDescribed(events);
    expect(finalsOf(events)).toHaveLength(3);
    expect(await calls.fallbacks()).toBeGreaterThanOrEqual(2);
    expect(gapsOf(events)).toEqual([]);
    expect(await calls.gateway.metrics()).toMatch(/^trunkline_engine_restarts_total [1-9]/m);
  });
});
