/**
 * `npm run clients -- --deletions`: what unchanged clients do when one thing is missing of what the gateway answers.
 * A golden that is not met without it proves that it is needed, and that the golden sees it.
 */
import { startGateway } from '../helpers/gateway.ts';
import { startBrain } from './brain.ts';
import type { Client } from './client.ts';
import { CLIENTS } from './clients.ts';
import { type Left, startDeletingProxy } from './deleting-proxy.ts';
import { differences, mayBeLoad } from './golden.ts';
import { type InstalledClient, installClient } from './install.ts';
import { goldenOf, KEY, type Ran, runClient } from './run.ts';

/** Clients that wait for what never comes are not waited for longer. */
const RUN_TIMEOUT_MS = 60_000;
const AT_ONCE = 3;
/** Differences that the page has of one. */
const EFFECTS_MAX = 2;

interface Deletion {
  /** A row of the table. */
  readonly client: string;
  readonly left: readonly Left[];
  /** None of it is missed. */
  readonly isHarmless?: true;
}

function fields(of: string, ...names: readonly string[]): Left[] {
  return names.map((field) => ({ field, of }));
}

const ITEM = 'conversation.item.input_audio_transcription.completed';
const AUDIO = 'response.output_audio.delta';
const PLACE = ['response_id', 'item_id', 'output_index', 'content_index'];

/** By client, in the order of the page. */
const DELETIONS: readonly Deletion[] = [
  { client: 'deepgram-node-5', left: [{ closeCode: true }] },
  { client: 'deepgram-python-4', left: fields('Results', 'channel', 'metadata', 'metadata.model_info') },
  {
    client: 'deepgram-python-4',
    isHarmless: true,
    left: fields('Results', 'metadata.request_id', 'channel_index', 'duration', 'start'),
  },
  { client: 'deepgram-speech-python-4', left: [{ header: 'dg-char-count' }] },
  { client: 'deepgram-python-7', left: fields('Results', 'type', 'channel', 'metadata', 'is_final') },
  {
    client: 'deepgram-livekit',
    left: [
      ...fields('Results', 'metadata.request_id', 'is_final', 'speech_final'),
      ...fields('Results', 'channel.alternatives.transcript', 'channel.alternatives.confidence'),
      ...fields('Results', 'channel.alternatives.words'),
      ...fields('TurnInfo', 'event', 'transcript', 'words'),
    ],
  },
  { client: 'deepgram-livekit', isHarmless: true, left: fields('Results', 'from_finalize', 'metadata.model_info') },
  { client: 'deepgram-livekit-node', left: fields('Results', 'metadata', 'is_final', 'speech_final') },
  {
    client: 'deepgram-pipecat',
    left: [...fields('Results', 'type', 'channel', 'is_final', 'from_finalize'), ...fields('TurnInfo', 'event')],
  },
  { client: 'deepgram-pipecat', isHarmless: true, left: fields('Results', 'speech_final', 'metadata') },
  {
    client: 'agents-node-realtime',
    left: [
      ...fields('*', 'event_id'),
      ...fields(ITEM, 'item_id', 'content_index', 'transcript'),
      ...fields('conversation.item.added', 'item'),
    ],
  },
  {
    client: 'agents-node-realtime',
    isHarmless: true,
    left: [{ message: 'session.created' }, ...fields(ITEM, 'usage')],
  },
  {
    client: 'agents-python-realtime',
    left: [...fields('*', 'event_id'), ...fields(ITEM, 'item_id', 'content_index', 'transcript', 'usage')],
  },
  { client: 'pipecat-realtime', left: fields(ITEM, 'transcript') },
  { client: 'pipecat-realtime', isHarmless: true, left: [{ message: 'session.created' }] },
  { client: 'livekit-realtime', left: fields(ITEM, 'transcript') },
  { client: 'livekit-realtime', isHarmless: true, left: fields(ITEM, 'item_id') },
  { client: 'openai-python-realtime', left: fields(ITEM, 'usage') },
  {
    client: 'agents-node-answers',
    left: [...fields(AUDIO, ...PLACE, 'delta'), ...fields('response.done', 'response')],
  },
  {
    client: 'agents-python-answers',
    left: [...fields(AUDIO, ...PLACE, 'delta'), ...fields('response.done', 'response')],
  },
  { client: 'pipecat-answers', left: fields(AUDIO, 'item_id', 'content_index', 'delta') },
  { client: 'livekit-answers', left: fields(AUDIO, 'item_id', 'delta') },
];

/** What is wrong with one that could not be left out. */
export const UNSENT = 'it was never sent';

/** What came of one. */
export interface DeletionResult {
  readonly client: Client;
  readonly left: Left | null;
  /** In a line; empty = nothing is missed. */
  readonly effect: string;
  /** Why this is not what was expected; empty = it is. */
  readonly wrong: string;
}

/** All of clients whose name begins with `only`. @throws what installing throws */
export async function tryDeletions(only: string, folder: string): Promise<DeletionResult[]> {
  const brain = await startBrain();
  const plain = await startGateway({ API_KEYS: KEY, ENGINE_WORKERS: '1' });
  const answering = await startGateway({
    API_KEYS: KEY,
    ENGINE_WORKERS: '1',
    LLM_BASE_URL: brain.url,
    LLM_MODEL: 'any',
  });
  const results: DeletionResult[] = [];
  try {
    const names = [...new Set(DELETIONS.map(({ client }) => client))].filter((name) => name.startsWith(only));
    for (const name of names) {
      const client = clientOf(name);
      const gateway = client.brain === true ? answering.url : plain.url;
      const trial = { client, installed: await installClient(client, folder), folder, gateway };
      const wanted = DELETIONS.filter((each) => each.client === name).flatMap(({ left, isHarmless = false }) =>
        left.map((each) => ({ left: each, isHarmless })),
      );
      // With nothing left out it must work, or the rest says nothing.
      results.push(...(await inTurn([{ left: null, isHarmless: true }, ...wanted], (each) => tryOne(trial, each))));
    }
  } finally {
    await Promise.all([plain.stop(), answering.stop()]);
    brain.close();
  }
  return results;
}

/** What is tried, in the order of the page. */
export function allDeletions(): { client: Client; left: Left }[] {
  return DELETIONS.flatMap(({ client, left }) => left.map((each) => ({ client: clientOf(client), left: each })));
}

function clientOf(name: string): Client {
  const client = CLIENTS.find((each) => each.name === name);
  if (client === undefined) throw new Error(`there is no client ${JSON.stringify(name)}`);
  return client;
}

interface Trial {
  readonly client: Client;
  readonly installed: InstalledClient;
  readonly folder: string;
  readonly gateway: string;
}

interface Wanted {
  readonly left: Left | null;
  readonly isHarmless: boolean;
}

async function tryOne(trial: Trial, { left, isHarmless }: Wanted): Promise<DeletionResult> {
  const { client, gateway } = trial;
  const proxy = await startDeletingProxy(gateway, left);
  try {
    const ran = await runClient({ ...trial, url: proxy.url, trust: {}, timeoutMs: RUN_TIMEOUT_MS });
    const effect = effectOf(ran, goldenOf(client));
    const isMissing = left !== null && proxy.count() === 0;
    const wrong = isMissing ? UNSENT : isHarmless === (effect === '') ? '' : 'not as expected';
    console.log(`${wrong || 'as expected'}  ${client.name}  ${nameOf(left)}: ${effect || 'works'}`);
    return { client, left, effect, wrong };
  } finally {
    proxy.close();
  }
}

/** The first of what is wrong. */
function effectOf({ seen, errors }: Ran, golden: unknown): string {
  if (seen === undefined) return howItEnded(errors);
  const wrong = differences(seen, golden).filter((difference) => !mayBeLoad(difference));
  return wrong.slice(0, EFFECTS_MAX).join('; ');
}

function howItEnded(errors: string): string {
  const said = errors.split('\n').filter((line) => /^\w*(Error|Exception)\b/.test(line));
  return said.length === 0 ? 'it waits for ever' : `the program ends: ${said.at(-1)}`;
}

/** What was left out, as the page says it. */
export function nameOf(left: Left | null): string {
  if (left === null) return 'nothing';
  if ('closeCode' in left) return 'the code of the close';
  if ('header' in left) return `the header \`${left.header}\``;
  if ('message' in left) return `all of \`${left.message}\``;
  return left.of === '*' ? `\`${left.field}\` of all` : `\`${left.field}\` of \`${left.of}\``;
}

/** Some at once; the results keep their order. */
async function inTurn<T, R>(all: readonly T[], act: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = all.map((each, at) => ({ each, at }));
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results[next.at] = await act(next.each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
