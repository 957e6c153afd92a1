/** A whole gateway with two recognisers, a quick one for partials and a slow one for finals: calls and recordings. */
import { afterEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { expectAsDescribed, finalsOf, partialsOf, RecogniserCalls, revisionsOf, say } from './recogniser-calls.ts';

let calls: RecogniserCalls;

async function open(environment: Record<string, string> = {}): Promise<void> {
  calls = await RecogniserCalls.open({
    ASR_MODEL: 'dictation',
    ASR_FINAL_MODEL: 'slow-dictation',
    JOIN_MS: '0',
    NODE_OPTIONS: `--import=${packagePath('test', 'fakes', 'slow-dictation.mjs')}`,
    ...environment,
  });
  expect(await calls.ready('slow-dictation')).toMatchObject({ reads: 'finals', languages: ['en', 'de'] });
}

afterEach(() => calls.close());

describe('a gateway with two recognisers', () => {
  it('captions with the one and ends captions with the other, in order, and reads recordings with it', async () => {
    await open();
    const events = await calls.call([...say([1, 2, 3, 4, 5]), ...say([6, 7, 8, 9])]);
    expect(partialsOf(events).some((text) => text.startsWith('one two'))).toBe(true);
    expect(finalsOf(events)).toEqual(['ONE TWO THREE FOUR FIVE', 'SIX SEVEN EIGHT NINE']);
    expect(revisionsOf(events)).toEqual([]);
    expect((await calls.transcribe(say([3, 2, 1]))).body).toMatchObject({ text: 'THREE TWO ONE' });
    expect(await calls.fallbacks()).toBe(0);
    expect(calls.gateway.enginePids()).toHaveLength(2);
  });

  it('ends captions in time when the other one is slow, and revises them', async () => {
    await open({ SLOW_MS: '1500', FINAL_LATE_MS: '200' });
    const events = await calls.call(say([1, 2, 3, 4, 5], 5000));
    expectAsDescribed(events);
    expect(finalsOf(events)).toEqual(['one two three four five']);
    expect(revisionsOf(events)).toEqual(['ONE TWO THREE FOUR FIVE']);
    expect(await calls.gateway.metrics()).toMatch(/^trunkline_final_fallbacks_total\{reason="(?:busy|late)"\} 1$/m);
  });

  it('ends captions when the other one dies of them, and goes on with it', async () => {
    await open({ SLOW_DIES_OVER_S: '1.3' });
    const events = await calls.call([...say([1, 2, 3, 4, 5, 6, 7]), ...say([8, 9], 4000)]);
    expectAsDescribed(events);
    expect(finalsOf(events)[0]).toBe('one two three four five six seven');
    expect(finalsOf(events)).toHaveLength(2);
    expect(finalsOf(events)[1]?.toLowerCase()).toBe('eight nine');
  });
});
