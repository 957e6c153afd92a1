/** How many words recognisers from folders get wrong, one alone or two as a pair, beside the embedded one. */
import { basename, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { matchLanguage } from '../../src/foundation/languages.ts';
import { understoodNames } from '../../src/foundation/recogniser-languages.ts';
import { readFeed } from '../helpers/feed.ts';
import { startGateway } from '../helpers/gateway.ts';
import { accuracyPrompts, liveEdits, wholeEdits } from './accuracy.ts';
import type { Prompt, PromptCall } from './prompts.ts';
import { figure, type Report } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { type Edits, wordErrorRate } from './wer/align.ts';

const POLL_MS = 200;

interface ModelAccuracyOptions {
  /** Folders; `final` = of the recogniser of finals, where there are two. */
  readonly model: string;
  readonly final: string | undefined;
  readonly every: number;
}

interface Speech {
  readonly prompts: readonly Prompt[];
  readonly calls: readonly PromptCall[];
}

/** The settings that choose a recogniser, or two. */
type Chosen = { readonly ASR_MODEL?: string; readonly ASR_FINAL_MODEL?: string };

interface Found {
  readonly live: Edits;
  readonly whole: Edits;
  /** Finals that the recogniser of partials read in place of that of finals. */
  readonly fallbacks: number;
}

/**
 * Runs the benchmark on every prompt, or on every `every`-th.
 * @throws Error with the engine's own words when a folder has no recogniser, or when one knows no English
 */
export async function benchModelAccuracy({ model, final, every }: ModelAccuracyOptions): Promise<Report> {
  const folders = [model, ...(final === undefined ? [] : [final])].map((folder) => resolve(folder));
  for (const folder of folders) await requireEnglish(folder);
  const [first = '', second] = folders;
  const chosen = { ASR_MODEL: first, ...(second !== undefined && { ASR_FINAL_MODEL: second }) };
  const speech = accuracyPrompts(every);
  const embedded = await measure({}, speech);
  const given = await measure(chosen, speech);
  const names = folders.map((folder) => basename(folder));
  return {
    name: 'model-accuracy',
    about:
      `${speech.prompts.length} human prompts of Debian's asterisk-core-sounds-en-wav (one voice, 8 kHz) as ` +
      `${speech.calls.length} simulated Twilio calls in real time, and each as a file, against their published text.`,
    tables: [
      {
        title: 'Word error rate',
        heads: ['recogniser', 'live, finals, %', 'as a file, %', 'words', 'finals read by the quick one'],
        rows: [row('the embedded one', embedded), row(names.join(' with '), given)],
      },
    ],
    goals: [],
  };
}

/** @throws Error saying why it cannot be measured */
async function requireEnglish(folder: string): Promise<void> {
  const engine = await startEngineClient(1, { ASR_MODEL: folder });
  const { languages } = engine;
  await engine.close();
  if (matchLanguage('en', languages) === null)
    throw new Error(`${folder} understands ${understoodNames(languages)}; the prompts are English`);
}

async function measure(chosen: Chosen, { prompts, calls }: Speech): Promise<Found> {
  const gateway = await startGateway({ DEFAULT_LANGUAGE: 'en', ...chosen });
  try {
    while (!(await isLoaded(gateway.url))) await setTimeout(POLL_MS);
    const feed = await readFeed(gateway.url);
    const live = await liveEdits(gateway.url, feed, calls);
    feed.close();
    const fallbacks = (await gateway.metrics()).match(/^trunkline_final_fallbacks_total\{.*$/gm) ?? [];
    const { ASR_MODEL, ASR_FINAL_MODEL = ASR_MODEL } = chosen;
    const reader = ASR_FINAL_MODEL === undefined ? {} : { ASR_MODEL: ASR_FINAL_MODEL };
    return {
      live,
      whole: await wholeEdits(prompts, reader),
      fallbacks: fallbacks.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0),
    };
  } finally {
    await gateway.stop();
  }
}

/** Whether every recogniser of the gateway is. */
async function isLoaded(url: string): Promise<boolean> {
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: Readonly<Record<string, unknown>>[] };
  return data.some((model) => 'reads' in model) && data.every((model) => !('reads' in model) || 'abilities' in model);
}

function row(title: string, { live, whole, fallbacks }: Found): (string | number)[] {
  return [title, figure(wordErrorRate(live), 1), figure(wordErrorRate(whole), 1), whole.words, fallbacks];
}
