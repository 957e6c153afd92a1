/**
 * Live audio through the endpoints of other services' clients, beside the same audio as calls: word error rate, and how
 * late finals are, with several sessions at once.
 */
import { readSettings } from '../../src/foundation/settings/config.ts';
import { msToSamples } from '../../src/foundation/units.ts';
import { startGateway } from '../helpers/gateway.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { type HeardFinal, LISTEN_ENDPOINTS, type ListenEndpoint } from './listen-endpoints.ts';
import { loadPrompts, type PromptCall, promptCalls } from './prompts.ts';
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
  /** Sessions of each endpoint at once. */
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

/** Runs the benchmark: all endpoints at the same time, so that whatever else the machine does is the same for all. */
export async function benchListen(options: ListenOptions): Promise<Report> {
  // Calls end utterances as sessions do.
  const gateway = await startGateway({ ENDPOINT_CAPTIONS_MS: String(ENDPOINT_MS), MAX_CALLS: '1000' });
  try {
    const calls = callsOf(options);
    const heard = await Promise.all(
      LISTEN_ENDPOINTS.map((endpoint, place) => hearAll({ endpoint, place, url: gateway.url, calls })),
    );
    return report(heard, options);
  } finally {
    await gateway.stop();
  }
}

/** Prompts are in the order of their names: every n-th one, so that a short run has all kinds. */
function callsOf({ sessions, promptsEach }: ListenOptions): PromptCall[] {
  const all = loadPrompts();
  const step = Math.max(Math.floor(all.length / (sessions * promptsEach)), 1);
  const prompts = all.filter((_, at) => at % step === 0).slice(0, sessions * promptsEach);
  return promptCalls(prompts, { promptsPerCall: promptsEach, pauseMs: PAUSE_MS });
}

interface HearTask {
  readonly endpoint: ListenEndpoint;
  readonly place: number;
  readonly url: string;
  readonly calls: readonly PromptCall[];
}

async function hearAll({ endpoint, place, url, calls }: HearTask): Promise<Heard> {
  const heard = await Promise.all(
    calls.map(async ({ samples, words }, index) => {
      const waitMs = (index * LISTEN_ENDPOINTS.length + place) * STAGGER_MS;
      const padded = new Int16Array(msToSamples(waitMs, LINE_RATE_HZ) + samples.length);
      padded.set(samples, padded.length - samples.length);
      return { words, finals: await endpoint.hear(url, padded) };
    }),
  );
  return { endpoint, ...judged(heard) };
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
      `${sessions} sessions of each endpoint, all at once in real time, each of ${promptsEach} human phone prompts. ` +
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
