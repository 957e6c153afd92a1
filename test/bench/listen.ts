/**
 * Live audio through the endpoints of other services' clients, beside the same audio as calls: word error rate, and how
 * late finals are, with several sessions at once.
 */
import { readSettings } from '../../src/foundation/settings/config.ts';
import { startGateway } from '../helpers/gateway.ts';
import { type HeardFinal, LISTEN_ENDPOINTS, type ListenEndpoint } from './listen-endpoints.ts';
import { loadPrompts, promptCalls } from './prompts.ts';
import { figure, quantile, type Report } from './report.ts';
import { countEdits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';

const PAUSE_MS = [700, 1500] as const;
/** Sessions begin this far apart, so that their utterances do not end together. */
const STAGGER_MS = 137;
/** Within these the endpoints are equal: two runs of one of them differ by as much. */
const NOISE_WER_POINTS = 1;
const NOISE_LATE_MS = 50;
const { ENDPOINT_MS } = readSettings({});

interface ListenOptions {
  /** Sessions at once. */
  readonly sessions: number;
  /** What each of them says. */
  readonly promptsEach: number;
}

interface Heard {
  readonly endpoint: ListenEndpoint;
  readonly finals: number;
  readonly werPercent: number;
  /** Beyond the endpoint silence. */
  readonly lateMs: readonly number[];
}

/** Runs the benchmark. */
export async function benchListen(options: ListenOptions): Promise<Report> {
  const heard: Heard[] = [];
  for (const endpoint of LISTEN_ENDPOINTS) {
    heard.push(await hearAll(endpoint, options));
    process.stderr.write(`${endpoint.label}: done\n`);
  }
  return report(heard, options);
}

/** A gateway of its own for each endpoint, whose calls end utterances as its sessions do. */
async function hearAll(endpoint: ListenEndpoint, { sessions, promptsEach }: ListenOptions): Promise<Heard> {
  const gateway = await startGateway({ ENDPOINT_CAPTIONS_MS: String(ENDPOINT_MS), MAX_CALLS: '1000' });
  try {
    // Prompts are in the order of their names: every n-th one, so that a short run has all kinds.
    const all = loadPrompts();
    const step = Math.max(Math.floor(all.length / (sessions * promptsEach)), 1);
    const prompts = all.filter((_, at) => at % step === 0).slice(0, sessions * promptsEach);
    const calls = promptCalls(prompts, { promptsPerCall: promptsEach, pauseMs: PAUSE_MS });
    const heard = await Promise.all(
      calls.map(async ({ samples, words }, index) => {
        const padded = new Int16Array((index * STAGGER_MS * 8000) / 1000 + samples.length);
        padded.set(samples, padded.length - samples.length);
        return { words, finals: await endpoint.hear(gateway.url, padded) };
      }),
    );
    return { endpoint, ...judged(heard) };
  } finally {
    await gateway.stop();
  }
}

function judged(heard: readonly { readonly words: readonly string[]; readonly finals: readonly HeardFinal[] }[]) {
  const finals = heard.flatMap((each) => each.finals);
  const edits = heard.map((each) =>
    countEdits(each.words, normaliseWords(each.finals.map(({ text }) => text).join(' '))),
  );
  return {
    finals: finals.length,
    werPercent: wordErrorRate(sumEdits(edits)),
    lateMs: finals.map(({ lateMs }) => lateMs - ENDPOINT_MS),
  };
}

function report(heard: readonly Heard[], { sessions, promptsEach }: ListenOptions): Report {
  const [calls, ...others] = heard;
  return {
    name: 'listen',
    about:
      `${sessions} sessions at once in real time, each of ${promptsEach} human phone prompts, through each endpoint. ` +
      `"Late" is from the end of speech to the final beyond the endpoint silence of ${ENDPOINT_MS} ms.`,
    tables: [
      {
        title: 'Finals',
        heads: ['endpoint', 'finals', 'word error rate, %', 'final late p50, ms', 'p95'],
        rows: heard.map(({ endpoint, finals, werPercent, lateMs }) => [
          endpoint.label,
          finals,
          figure(werPercent, 2),
          figure(quantile(lateMs, 0.5)),
          figure(quantile(lateMs, 0.95)),
        ]),
      },
    ],
    goals: others.flatMap((other) => [
      {
        goal: `${other.endpoint.label}: word error rate within ${NOISE_WER_POINTS} point of the calls'`,
        found: `${figure(other.werPercent, 2)} % to ${figure(calls?.werPercent ?? Number.NaN, 2)} %`,
        met: Math.abs(other.werPercent - (calls?.werPercent ?? Number.NaN)) <= NOISE_WER_POINTS,
      },
      {
        goal: `${other.endpoint.label}: p50 at most ${NOISE_LATE_MS} ms later than the calls'`,
        found: `${figure(quantile(other.lateMs, 0.5))} ms to ${figure(quantile(calls?.lateMs ?? [], 0.5))} ms`,
        met: quantile(other.lateMs, 0.5) - quantile(calls?.lateMs ?? [], 0.5) <= NOISE_LATE_MS,
      },
    ]),
  };
}
