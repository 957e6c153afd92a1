/**
 * The thread of the simulated callers for measuring capacity, so that their work does not delay the gateway's. It
 * places a number of calls at once in real time, and answers when they are over.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { sleep, systemClock } from '../../foundation/clock.ts';
import { packagePath } from '../../foundation/folders/paths.ts';
import { MULAW_8K } from '../../foundation/units.ts';
import { conversation, cutAtSilence } from '../../simulator/conversation.ts';
import { seededRandom } from '../../simulator/random.ts';
import { placeCall } from '../../simulator/twilio-caller.ts';
import { loadAudio } from '../audio-file.ts';
import type { CallersAnswer, CallersTask } from './messages.ts';

/** Calls begin one after the other, so that their frames come at different times, but all within 2 s. */
const STAGGER_MS = 137;
const STAGGER_ALL_MS = 2000;

async function loadUtterances(): Promise<Int16Array[]> {
  const files = ['demo-caller.wav', 'demo-agent.wav'].map((name) => packagePath('fixtures', 'audio', name));
  const tracks = await Promise.all(files.map((file) => loadAudio(file, MULAW_8K.rateHz, 'mix')));
  return tracks.flat().flatMap((samples) => cutAtSilence(samples, MULAW_8K.rateHz));
}

/** Resolves with whether the call lasted to its planned end. */
async function speak(
  index: number,
  utterances: readonly Int16Array[],
  { url, calls, seconds, speechShare }: CallersTask,
): Promise<boolean> {
  await sleep(systemClock, index * Math.min(STAGGER_MS, STAGGER_ALL_MS / calls));
  const random = seededRandom(index + 1);
  const inbound = conversation(utterances, { seconds, rateHz: MULAW_8K.rateHz, speechShare, random });
  try {
    const { closeCode } = await placeCall({ url, tracks: { inbound }, pace: 'realtime', clock: systemClock });
    return closeCode === 1000;
  } catch {
    return false;
  }
}

const task = workerData as CallersTask;
const utterances = await loadUtterances();
const outcomes = await Promise.all(Array.from({ length: task.calls }, (_, index) => speak(index, utterances, task)));
parentPort?.postMessage({ refused: outcomes.filter((wentThrough) => !wentThrough).length } satisfies CallersAnswer);
