/**
 * The phones of a load benchmark, in a process of their own so that their work is not counted as the gateway's:
 * `tsx callers.ts <order as JSON>` places that many simulated calls at once in real time and ends when they have ended. Prints what became of the sound that
 * reached one of them, as JSON.
 */
import { sleep, systemClock } from '../../src/clock.ts';
import { MULAW_8K, msToSamples } from '../../src/units.ts';
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
export interface CallersOrder {
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly carrier: BenchCarrierName;
  readonly calls: number;
  readonly seconds: number;
  /** One more caller, who says nothing and is talked to all the time. */
  readonly spokenTo: boolean;
  /** Nobody says anything. */
  readonly silent?: boolean;
}

/** How steadily sound reached the caller who was talked to. */
export interface CallersReport {
  /** Ms between two frames of sound that follow one another. */
  readonly gapsMs: readonly number[];
}

const order = JSON.parse(process.argv[2] ?? '{}') as CallersOrder;
const { place } = BENCH_CARRIERS[order.carrier];
const prompts = order.silent === true ? [] : loadPrompts();

/** A call in which the gateway speaks. */
async function listen(): Promise<number[]> {
  const gapsMs: number[] = [];
  let lastMs: number | null = null;
  const onFrame = (hasSound: boolean): void => {
    const nowMs = systemClock.nowMs();
    if (hasSound && lastMs !== null) gapsMs.push(nowMs - lastMs);
    lastMs = hasSound ? nowMs : null;
  };
  const audio = new Int16Array(msToSamples(order.seconds * 1000, MULAW_8K.rateHz));
  const { id, ended } = place({ ...order, audio, onFrame });
  await sleep(systemClock, 2 * STAGGER_MS);
  for (let atMs = 0, turn = 0; atMs < order.seconds * 1000; atMs += SENTENCE_MS, turn++) {
    const body = JSON.stringify({ text: SENTENCES[turn % SENTENCES.length] });
    await fetch(`${order.url}/v1/calls/${id}/say`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }
  await ended;
  return gapsMs;
}

async function speak(index: number): Promise<void> {
  await sleep(systemClock, index * STAGGER_MS);
  await place({ ...order, audio: promptConversation(prompts, order.seconds, SPEECH_SHARE, 1000 + index) }).ended;
}

const listening = order.spokenTo ? listen() : Promise.resolve([]);
await Promise.all(Array.from({ length: order.calls }, (_, index) => speak(index)));
const report: CallersReport = { gapsMs: await listening };
process.stdout.write(JSON.stringify(report));
