/** Calls in several languages, through a real engine process with the pretend recogniser. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { transcriptOf } from '../../../src/calls/feed/transcript-builder.ts';
import { formatTranscript } from '../../../src/calls/feed/transcript-formats.ts';
import { NumberBook, parseNumbers } from '../../../src/calls/language/numbers-file.ts';
import { EngineClient } from '../../../src/engine-client/engine-client.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { TONE } from '../../engine/settings.ts';
import { ADDED_NAMES } from '../../fakes/added-models.ts';
import { type Gateway, startCalls } from '../harness.ts';

/** How loud each language is to the pretend recogniser. */
const LEVELS = { en: 800, de: 8000, ja: 16_000, ar: 30_000 };
type Spoken = keyof typeof LEVELS;

let engine: EngineClient;

beforeAll(async () => {
  engine = new EngineClient({
    engineSettings: { ...TONE, ...ADDED_NAMES, vadModel: 'tone' },
    workers: 1,
    idleMs: 0,
    entry: fileURLToPath(new URL('../../fakes/engine-with-added-models.mjs', import.meta.url)),
    clock: systemClock,
    log: createLog('silent'),
    metrics: new Metrics(),
    onRefused: () => undefined,
  });
  await engine.start();
});
afterAll(() => engine.close());

interface Called {
  readonly parameters?: Record<string, string>;
  readonly numbers?: string;
  readonly environment?: Record<string, string>;
}

/** A whole call in which `spoken` is said, one utterance each. */
async function call(spoken: readonly Spoken[], { parameters = {}, numbers, environment }: Called = {}) {
  const gateway = startCalls({ JOIN_MS: '0', ...environment });
  const book = new NumberBook(numbers === undefined ? [] : parseNumbers(numbers, 'numbers.yaml'));
  Object.assign(gateway.context, { engine, clock: systemClock, numbers: book });
  const caller = gateway.dial().start({ parameters });
  let finals = 0;
  for (const language of spoken) {
    caller.speak(900, 'inbound', LEVELS[language]).hush(700);
    finals++;
    await expect.poll(() => finalsOf(gateway).length, { timeout: 10_000 }).toBe(finals);
  }
  caller.stop();
  await expect.poll(() => gateway.events.at(-1)?.type, { timeout: 10_000 }).toBe('call.ended');
  return gateway;
}

function finalsOf({ events }: Gateway) {
  return events.flatMap((event) => (event.type === 'caption' && event.final ? [event] : []));
}

function languagesOf({ events }: Gateway): Partial<FeedEvent>[] {
  return events.flatMap((event) => (event.type === 'language' ? [{ language: event.language, by: event.by }] : []));
}

describe('a call through a real engine', () => {
  it('is read in the language that it names, with its hot words', async () => {
    const gateway = await call(['en'], { parameters: { language: 'ja-JP', hotWords: 'Müller' } });
    expect(languagesOf(gateway)).toEqual([{ language: 'ja', by: 'call' }]);
    expect(finalsOf(gateway)).toMatchObject([{ text: 'はい、お願いします。 Müller', language: 'ja' }]);
  });

  it('is read in the language of its number', async () => {
    const numbers = 'numbers: [{number: "+4930*", language: de, hotWords: [ISDN]}]';
    const gateway = await call(['en'], { parameters: { to: '+4930123' }, numbers });
    expect(finalsOf(gateway)).toMatchObject([{ text: 'ja ISDN', language: 'de' }]);
  });

  it('changes its language in the middle when two utterances agree', async () => {
    const gateway = await call(['en', 'en', 'ar', 'en', 'ja', 'ja']);
    expect(languagesOf(gateway)).toEqual([
      { language: 'en', by: 'heard' },
      { language: 'ja', by: 'heard' },
    ]);
    expect(finalsOf(gateway).map(({ text, language }) => [text, language])).toEqual([
      ['yes', 'en'],
      ['yes', 'en'],
      ['yes', 'en'],
      ['yes', 'en'],
      ['yes', 'en'],
      ['はい、お願いします。', 'ja'],
    ]);
  });

  it('has captions although its language is not understood', async () => {
    const gateway = await call(['de'], { parameters: { language: 'fr' } });
    expect(finalsOf(gateway)).toMatchObject([{ text: 'ja', language: 'de' }]);
    expect(gateway.events.find(({ type }) => type === 'language')).toMatchObject({ language: null, refused: 'fr' });
  });

  it('has a transcript that names the languages, from right to left too', async () => {
    const gateway = await call(['ar', 'ar'], { parameters: { callerName: 'ليلى' } });
    const items = transcriptOf(gateway.events);
    expect(items).toMatchObject([{ language: 'ar' }, { language: 'ar' }]);
    expect(formatTranscript(items, 'text')).toMatch(/^\[[\d:.]+\] inbound: نعم من فضلك\. ليلى$/mu);
    expect(formatTranscript(items, 'vtt')).toContain('<v inbound>نعم من فضلك. ليلى');
  });
});
