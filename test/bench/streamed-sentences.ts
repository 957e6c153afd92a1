/**
 * What comes of sentences that are played while they are made: whether their bytes are those of the whole ones, and
 * whether carriers run dry in the middle of them while many calls speak at once.
 */

import { findInstalled } from '../../engine/models/installed.ts';
import { joinBytes } from '../../src/audio/bytes.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { GrowingList } from '../../src/foundation/growing-list.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { encodeSound, type Stretch } from '../../src/speech/encode-sound.ts';
import { normaliseText } from '../../src/speech/normalise.ts';
import { readFeed } from '../helpers/feed.ts';
import { TEST_MODELS_DIR } from '../helpers/installed-models.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { SpokenCall, type Steadiness, steadinessOf } from './spoken-call.ts';

/** A long sentence is made of so many. */
const CLAUSES = 5;
/** The piece that a sentence is cut to at most. */
const LONG_MAX_CHARS = 290;
/** Calls do not begin to speak all in the same ms. */
const STAGGER_MS = 150;

/** The best voice that there is for this benchmark, and the settings with which a gateway has it. */
export function benchVoice(): { readonly voice: string; readonly environment: Readonly<Record<string, string>> } {
  if (findInstalled(TEST_MODELS_DIR, 'hibari').length === 0)
    return { voice: 'rms', environment: { MODELS_DIR: 'none' } };
  return { voice: 'hibari:heart', environment: { MODELS_DIR: TEST_MODELS_DIR } };
}

/** One sentence that takes some 15 s to be said. */
export function longSentence(index: number): string {
  const clauses = Array.from(
    { length: CLAUSES },
    (_, n) => PHONE_SENTENCES[(index + 7 * n) % PHONE_SENTENCES.length]?.replace(/[.?!]+$/, '') ?? '',
  );
  return `${clauses
    .join(', and ')
    .slice(0, LONG_MAX_CHARS)
    .replace(/\s\S*$/, '')}.`;
}

async function* oneStretch(stretch: Stretch): AsyncGenerator<Stretch> {
  yield stretch;
}

async function encode(stretches: AsyncIterable<Stretch>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of encodeSound(stretches, MULAW_8K)) parts.push(part);
  return joinBytes(parts);
}

/** How sentences were told, and how many of them had other bytes than the whole ones. */
export interface Equality {
  readonly sentences: number;
  readonly stretches: number;
  readonly different: number;
}

/** Has each of `texts` made whole and in stretches, and compares the frames. */
export async function compareStreamed(
  engineClient: ManagedEngine,
  voice: string,
  texts: readonly string[],
): Promise<Equality> {
  let stretches = 0;
  let different = 0;
  for (const text of texts) {
    const request = { text: normaliseText(text), voice, speed: 1, urgency: 'speak', dueInMs: 0 } as const;
    const whole = await engineClient.speak(request);
    const told = new GrowingList<Stretch>();
    const onSound = (samples: Int16Array, rateHz: number): void => told.push({ samples, rateHz, isLast: false });
    told.push({ ...(await engineClient.speak({ ...request, onSound })), isLast: true });
    told.end();
    stretches += told.items.length;
    const [atOnce, streamed] = await Promise.all([encode(oneStretch({ ...whole, isLast: true })), encode(told.read())]);
    if (!Buffer.from(atOnce).equals(streamed)) different++;
  }
  return { sentences: texts.length, stretches, different };
}

/** Has `calls` calls at the gateway at `url` say `textOf(n)` at the same time, and tells how steadily it came. */
export async function speakAtOnce(
  url: string,
  calls: number,
  textOf: (index: number) => string,
): Promise<Steadiness[]> {
  const feed = await readFeed(url);
  const found = await Promise.all(
    Array.from({ length: calls }, async (_, index) => {
      await sleep(systemClock, index * STAGGER_MS);
      const call = new SpokenCall(url);
      const { callSid } = call.caller;
      await feed.until((event) => event.type === 'call.started' && event.callId === callSid);
      await call.post('say', { text: textOf(index) });
      await feed.until((event) => event.type === 'spoken' && event.callId === callSid);
      await call.hangUp();
      return steadinessOf(call.frames);
    }),
  );
  feed.close();
  return found;
}
