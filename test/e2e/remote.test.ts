/** A gateway whose recogniser writes in small letters, and another one that reads for it, in capitals. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { finalsOf, partialsOf, RecogniserCalls, say } from './recogniser-calls.ts';

const MODELS = { NODE_OPTIONS: `--import=${packagePath('test', 'fakes', 'slow-dictation.mjs')}`, JOIN_MS: '0' };
const DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3];
const SAID = 'one two three four five six seven eight nine one two three';

/** With it, the other gateway is one that does not answer in time. */
const HUNG_MS = '60000';

let reader: GatewayProcess;
let calls: RecogniserCalls;

function startReader(environment: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
  const models = { ASR_MODEL: 'slow-dictation', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
  return startGateway({ ...MODELS, ...models, SLOW_MS: '30', ...environment });
}

async function open(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  calls = await RecogniserCalls.open({ ...MODELS, ASR_MODEL: 'dictation', ASR_URL: reader.url, ...environment });
  await calls.ready('dictation');
}

/** Says {@link DIGITS}, and does something to the other gateway when the first caption of it is there. */
async function callAnd(harm: () => void): Promise<readonly FeedEvent[]> {
  const caller = calls.caller(say(DIGITS, 4000));
  const running = caller.run();
  await calls.feed.until((event) => event.type === 'caption' && event.text.startsWith('ONE'));
  harm();
  await running;
  return calls.endOf(caller);
}

beforeEach(async () => {
  reader = await startReader();
});

afterEach(async () => {
  await calls.close();
  await reader.stop('SIGKILL');
});

describe('a gateway that reads for another', () => {
  it('reads its partials, finals and recordings', async () => {
    await open();
    const events = await calls.call([...say([1, 2, 3, 4, 5]), ...say([6, 7, 8])]);
    expect(partialsOf(events).some((text) => text.startsWith('ONE TWO'))).toBe(true);
    expect(finalsOf(events)).toEqual(['ONE TWO THREE FOUR FIVE', 'SIX SEVEN EIGHT']);
    expect((await calls.transcribe(say([3, 2, 1]))).body).toMatchObject({ text: 'THREE TWO ONE' });
    expect(await calls.gateway.metrics()).toMatch(/^trunkline_asr_backend_finals_total\{.*reason="asked".*\} 2$/m);
  });

  it('killed in the middle of an utterance costs no word: the embedded recogniser ends it', async () => {
    await open();
    const events = await callAnd(() => process.kill(reader.pid, 'SIGKILL'));
    expect(finalsOf(events)).toEqual([SAID]);
    expect(await calls.gateway.metrics()).toMatch(/^trunkline_asr_backend_up\{.*\} 0$/m);
  });

  it('stopped in the middle of an utterance costs no word either', async () => {
    await open();
    const events = await callAnd(() => process.kill(reader.pid, 'SIGSTOP'));
    expect(finalsOf(events)).toEqual([SAID]);
    expect(await calls.gateway.metrics()).toMatch(/^trunkline_asr_backend_finals_total\{backend="embedded",.*\} 1$/m);
  });

  it('that is back is asked again', async () => {
    await open();
    await callAnd(() => process.kill(reader.pid, 'SIGKILL'));
    const { port } = new URL(reader.url);
    reader = await startReader({ PORT: port });
    const later = Array.from({ length: 8 }, () => say([4, 5], 1500)).flat();
    const finals = finalsOf(await calls.call(later, { callSid: 'CAlater' }));
    expect(finals.at(-1)).toBe('FOUR FIVE');
    expect(finals.map((text) => text.toLowerCase())).toEqual(Array(8).fill('four five'));
  });
});

it('a gateway whose reader is never there captions by itself', async () => {
  await reader.stop('SIGKILL');
  await open();
  expect(finalsOf(await calls.call(say([1, 2, 3])))).toEqual(['one two three']);
});

it('a gateway whose reader is always late captions by itself, and leaves it alone', async () => {
  await reader.stop('SIGKILL');
  reader = await startReader({ SLOW_MS: HUNG_MS });
  await open();
  const said = Array.from({ length: 4 }, () => say([1, 2, 3], 3000)).flat();
  expect(finalsOf(await calls.call(said))).toEqual(Array(4).fill('one two three'));
  expect(await calls.gateway.metrics()).toMatch(/^trunkline_asr_backend_up\{.*\} 0$/m);
});
