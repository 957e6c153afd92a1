/**
 * Another Trunkline as recogniser: what a request costs the gateway that sends it, and how late finals are when the
 * other one dies or stops answering in the middle of an utterance; and what calls that share one feel of recordings.
 */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { loadAudio } from '../../src/cli/audio-file.ts';
import type { TranscribeRequest } from '../../src/engine-client/engine.ts';
import type { ManagedEngine } from '../../src/engine-client/managed-engine.ts';
import { OpenaiRecogniser } from '../../src/engine-client/remote/openai-recogniser.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { startGateway } from '../helpers/gateway.ts';
import { startBareHttp } from './bare-http.ts';
import { measureSharedRemote, type SharedRemoteOptions } from './remote-calls.ts';
import { figure, quantile, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';

const CHUNK_MS = 400;
const WINDOW_SECONDS = 6;
/** Utterances before the one in which something happens: the hedge goes by how long they took. */
const HEALTHY = 3;

/** What happens to the other gateway in an utterance, and which share of that was spoken by then. */
interface Harm {
  readonly what: string;
  readonly at: number;
  readonly signal: NodeJS.Signals | null;
}

const HARMS: readonly Harm[] = [
  { what: 'nothing', at: 1, signal: null },
  { what: 'killed in the middle', at: 0.5, signal: 'SIGKILL' },
  { what: 'killed at the end', at: 1, signal: 'SIGKILL' },
  { what: 'stops answering in the middle', at: 0.5, signal: 'SIGSTOP' },
  { what: 'stops answering at the end', at: 1, signal: 'SIGSTOP' },
];

interface RemoteOptions extends SharedRemoteOptions {
  readonly rounds: number;
  readonly requests: number;
}

/** Runs the benchmark, each harm `rounds` times, `requests` requests of each kind, and calls on one server. */
export async function benchRemote(options: RemoteOptions): Promise<Report> {
  const shared = await measureSharedRemote(options);
  const costs = await measureCosts(options.requests);
  const rows: (string | number)[][] = [];
  let differing = 0;
  for (const harm of HARMS) {
    const finals: Final[] = [];
    for (let round = 0; round < options.rounds; round++) finals.push(await measureFinal(harm));
    const tookMs = finals.map((final) => final.tookMs);
    differing += finals.filter(({ isSame }) => !isSame).length;
    rows.push([harm.what, figure(quantile(tookMs, 0.5), 0), figure(Math.max(...tookMs), 0), options.rounds]);
    process.stderr.write(`${harm.what}: ${rows.at(-1)?.slice(1).join(' ')}\n`);
  }
  return {
    name: 'remote',
    about:
      'ASR_URL with another Trunkline on the same machine, both with the embedded recogniser. A sentence of 2.7 s is ' +
      `read as in a call, a partial each ${CHUNK_MS} ms, then the final. In the middle or at the end of it something ` +
      'happens to the other gateway. Then simulated Twilio calls in real time, 45 % human speech, go to a gateway ' +
      'whose ASR_URL is another one, alone and while recordings are in it all the time; all of it on this ' +
      'machine. The silence that ends an utterance is in the lag of finals.',
    tables: [
      { title: 'From the question for the final to its text, in ms', heads: ['', 'median', 'most', 'finals'], rows },
      {
        title: `CPU of the asking gateway for a request with ${WINDOW_SECONDS} s, in ms`,
        heads: ['', 'ms'],
        rows: costs,
      },
      shared.table,
    ],
    goals: [
      ...shared.goals,
      {
        goal: 'Every final is word for word what the embedded engine says',
        found: `${differing} differ`,
        met: differing === 0,
      },
    ],
  };
}

interface Final {
  readonly tookMs: number;
  readonly isSame: boolean;
}

async function measureFinal({ at, signal }: Harm): Promise<Final> {
  const reader = await startGateway({ ENGINE_WORKERS: '1' });
  const engine = await startEngineClient(1, { ASR_URL: reader.url });
  try {
    const samples = await sentence();
    // Its models have to be loaded, or the first answer is late.
    await engine.transcribe({ ...question(samples, 0), urgency: 'batch', dueInMs: 60_000 });
    for (let utterance = 1; utterance <= HEALTHY; utterance++) await readUtterance(engine, samples, utterance);
    const harm = () => signal !== null && process.kill(reader.pid, signal);
    const last = await readUtterance(engine, samples, HEALTHY + 1, { at, harm });
    return { tookMs: last.tookMs, isSame: last.text === (await embeddedText(samples)) };
  } finally {
    await engine.close();
    await reader.stop('SIGKILL');
  }
}

/** Reads one utterance as a call does: what it says, and how long its final took. */
async function readUtterance(
  engine: ManagedEngine,
  samples: Int16Array,
  stream: number,
  { at, harm }: { at: number; harm: () => void } = { at: 1, harm: () => undefined },
): Promise<{ text: string; tookMs: number }> {
  const stepSamples = (CHUNK_MS * ENGINE_RATE_HZ) / 1000;
  let isHarmed = false;
  for (let to = stepSamples; to < samples.length; to += stepSamples) {
    if (!isHarmed && to > at * samples.length) {
      isHarmed = true;
      harm();
    }
    const partial = engine.transcribe({ ...question(samples.slice(0, to), stream), urgency: 'partial' });
    await Promise.all([partial.catch(() => null), sleep(systemClock, CHUNK_MS)]);
  }
  if (!isHarmed) harm();
  const askedMs = systemClock.nowMs();
  const { text } = await engine.transcribe({ ...question(samples, stream), urgency: 'final' });
  return { text, tookMs: systemClock.nowMs() - askedMs };
}

function question(samples: Int16Array, stream: number): Omit<TranscribeRequest, 'urgency'> {
  return { samples, stream, dueInMs: CHUNK_MS, draft: [] };
}

let known: string | null = null;

async function embeddedText(samples: Int16Array): Promise<string> {
  if (known !== null) return known;
  const engine = await startEngineClient(1);
  known = (await engine.transcribe({ ...question(samples, 1), urgency: 'final' })).text;
  await engine.close();
  return known;
}

async function sentence(): Promise<Int16Array> {
  const [samples = new Int16Array(0)] = await loadAudio(
    packagePath('fixtures', 'audio', 'short.wav'),
    ENGINE_RATE_HZ,
    'mix',
  );
  return samples;
}

/** CPU of this process for a request, ours and that of `fetch` with a form, to a server that does nothing. */
async function measureCosts(requests: number): Promise<(string | number)[][]> {
  const server = await startBareHttp();
  const recogniser = new OpenaiRecogniser(new URL(server.url), { apiKey: '', model: '' });
  const samples = new Int16Array(WINDOW_SECONDS * ENGINE_RATE_HZ);
  const { signal } = new AbortController();
  const ways: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['Trunkline', () => recogniser.recognise({ samples, urgency: 'partial', signal })],
    ['fetch with FormData', () => sendForm(server.url, samples)],
  ];
  try {
    const rows: (string | number)[][] = [];
    for (const [name, ask] of ways) rows.push([name, figure(await cpuMsOf(ask, requests), 2)]);
    return rows;
  } finally {
    recogniser.close();
    await server.stop();
  }
}

async function cpuMsOf(ask: () => Promise<unknown>, requests: number): Promise<number> {
  for (let n = 0; n < requests / 4; n++) await ask();
  const before = process.cpuUsage();
  for (let n = 0; n < requests; n++) await ask();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / requests;
}

async function sendForm(url: string, samples: Int16Array): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(samples.buffer as ArrayBuffer)]), 'speech.wav');
  form.set('response_format', 'json');
  await (await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form })).json();
}
