/**
 * The phones of a load benchmark, in a process of their own so that their work is not counted as the gateway's:
 * `tsx callers.ts <order as JSON>` places that many simulated calls at once in real time and ends when they have ended.
 * Prints what became of the sound that reached those who were talked to, as JSON.
 */
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { BENCH_CARRIERS, type BenchCarrierName } from './carriers.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { loadPrompts, promptConversation } from './prompts.ts';

const SPEECH_SHARE = 0.45;
/** Calls begin this far apart, so that their frames and windows do not fall together. */
const STAGGER_MS = 137;
/** One sentence after the other for so long; all of them are in the cache of prompts after the first round. */
const SENTENCES = PHONE_SENTENCES.slice(0, 3);
const SENTENCE_MS = 2000;

/** What is to be done. */
export interface CallersTask {
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly carrier: BenchCarrierName;
  readonly calls: number;
  readonly seconds: number;
  /** So many more callers, who say nothing and are talked to all the time. */
  readonly spokenTo: number;
  /** Nobody says anything. */
  readonly silent?: boolean;
}

/** How steadily frames of 20 ms reached the callers who were talked to. */
export interface CallersReport {
  /** Ms between two frames that follow one another and both have sound. */
  readonly gapsMs: readonly number[];
  /** Ms between any two that follow one another, silent ones included. */
  readonly allGapsMs: readonly number[];
}

const order = JSON.parse(process.argv[2] ?? '{}') as CallersTask;
const { place } = BENCH_CARRIERS[order.carrier];
const prompts = order.silent === true ? [] : loadPrompts();

/** A call in which the gateway speaks. */
async function listen(index: number): Promise<CallersReport> {
  await sleep(systemClock, index * STAGGER_MS);
  const gapsMs: number[] = [];
  const allGapsMs: number[] = [];
  let last: { readonly atMs: number; readonly hadSound: boolean } | null = null;
  const onFrame = (hasSound: boolean): void => {
    const atMs = systemClock.nowMs();
    if (last !== null) allGapsMs.push(atMs - last.atMs);
    if (last !== null && hasSound && last.hadSound) gapsMs.push(atMs - last.atMs);
    last = { atMs, hadSound: hasSound };
  };
  const audio = new Int16Array(msToSamples(order.seconds * 1000, MULAW_8K.rateHz));
  const { id, ended } = place({ ...order, audio, onFrame });
  await sleep(systemClock, 2 * STAGGER_MS);
  for (let atMs = 0, turn = index; atMs < order.seconds * 1000; atMs += SENTENCE_MS, turn++) {
    const body = JSON.stringify({ text: SENTENCES[turn % SENTENCES.length] });
    await fetch(`${order.url}/v1/calls/${id}/say`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
  }
  await ended;
  return { gapsMs, allGapsMs };
}

async function speak(index: number): Promise<void> {
  await sleep(systemClock, index * STAGGER_MS);
  await place({ ...order, audio: promptConversation(prompts, order.seconds, SPEECH_SHARE, 1000 + index) }).ended;
}

const listening = Promise.all(Array.from({ length: order.spokenTo }, (_, index) => listen(index)));
await Promise.all(Array.from({ length: order.calls }, (_, index) => speak(index)));
const listened = await listening;
const report: CallersReport = {
  gapsMs: listened.flatMap(({ gapsMs }) => gapsMs),
  allGapsMs: listened.flatMap(({ allGapsMs }) => allGapsMs),
};
process.stdout.write(JSON.stringify(report));
