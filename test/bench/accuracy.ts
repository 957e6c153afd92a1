/**
 * What the Twilio path makes of human phone speech: simulated calls in real time through a real gateway, their final
 * captions against the published text, beside the same prompts decoded whole off line; how early and how steady partial
 * captions are; and what never may be captioned.
 */

import type { CaptionEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { startGateway } from '../helpers/gateway.ts';
import { LINE_RATE_HZ, nonSpeechSignals } from '../helpers/signals.ts';
import { PAUSES } from './pause-set.ts';
import { type CauseFound, measurePauses, pauseTable, revisedLoss } from './pauses.ts';
import { loadPrompts, type Prompt, type PromptCall, promptCalls } from './prompts.ts';
import { figure, quantile, type Report } from './report.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { decodeWhole } from './whole-recordings.ts';

const CALLS_AT_ONCE = 6;
const PROMPTS_PER_CALL = 8;
const NON_SPEECH_SECONDS = 30;
/** Longer prompts are left out: the recogniser cannot take them whole, so there is nothing to compare with. */
const PROMPT_MAX_SECONDS = 20;

/** Steadiness of the partial captions of all utterances together. */
interface Steadiness {
  readonly firstPartialMs: number[];
  partialWords: number;
  revisedWords: number;
  stableWords: number;
  stableWrong: number;
}

/** Runs the benchmark on every prompt, or on every `every`-th. */
export async function benchAccuracy(options: { readonly every: number }): Promise<Report> {
  const { prompts, calls } = accuracyPrompts(options.every);
  const gateway = await startGateway();
  const feed = await readFeed(gateway.url);
  const live = await liveEdits(gateway.url, feed, calls);
  const falseCaptions = await captionsOnNonSpeech(gateway.url, feed);
  const steadiness = measureSteadiness(feed);
  const pauses = await measurePauses(gateway.url, feed, options.every);
  feed.close();
  await gateway.stop();
  const whole = await wholeEdits(prompts);
  return report({ prompts, calls, live, whole, steadiness, falseCaptions, pauses });
}

/** Every `every`-th prompt, and all of these as calls. */
export function accuracyPrompts(every: number): {
  readonly prompts: readonly Prompt[];
  readonly calls: readonly PromptCall[];
} {
  const short = loadPrompts().filter((prompt) => prompt.samples.length <= PROMPT_MAX_SECONDS * LINE_RATE_HZ);
  const prompts = short.filter((_, index) => index % every === 0);
  return { prompts, calls: promptCalls(prompts, { promptsPerCall: PROMPTS_PER_CALL, pauseMs: [500, 1500] }) };
}

/** What the final captions of `calls`, some at once, have otherwise than their text. */
export async function liveEdits(url: string, feed: FeedReader, calls: readonly PromptCall[]): Promise<Edits> {
  const edits: Edits[] = [];
  const waiting = [...calls.entries()];
  await Promise.all(
    Array.from({ length: CALLS_AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, call] = next;
        const captions = await callCaptions(url, feed, call.samples, `CAaccuracy${index}`);
        edits.push(
          countEdits(
            call.words,
            captions.flatMap((caption) => normaliseWords(caption.text)),
          ),
        );
        process.stderr.write(
          `\r${edits.length} of ${calls.length} calls, WER so far ${figure(wordErrorRate(sumEdits(edits)), 2)} % `,
        );
      }
    }),
  );
  process.stderr.write('\n');
  return sumEdits(edits);
}

async function callCaptions(
  url: string,
  feed: FeedReader,
  inbound: Int16Array,
  callSid: string,
): Promise<CaptionEvent[]> {
  const wsUrl = `${url.replace(/^http/, 'ws')}/twilio/media`;
  await placeCall({ url: wsUrl, tracks: { inbound }, pace: 'realtime', clock: systemClock, callSid });
  await feed.until((event) => event.type === 'call.ended' && event.callId === callSid);
  return feed.finals(callSid);
}

async function captionsOnNonSpeech(url: string, feed: FeedReader): Promise<{ signal: string; captions: number }[]> {
  const signals = Object.entries(nonSpeechSignals(NON_SPEECH_SECONDS));
  return Promise.all(
    signals.map(async ([signal, samples], index) => {
      const callSid = `CAnonspeech${index}`;
      await callCaptions(url, feed, samples, callSid);
      return {
        signal,
        captions: feed.events.filter((event) => event.type === 'caption' && event.callId === callSid).length,
      };
    }),
  );
}

/** The same of each prompt decoded whole, by the recogniser that the settings in `environment` name. */
export async function wholeEdits(
  prompts: readonly Prompt[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Edits> {
  const texts = await decodeWhole(
    prompts.map((prompt) => prompt.samples),
    { environment },
  );
  return sumEdits(prompts.map((prompt, index) => countEdits(prompt.words, normaliseWords(texts[index] ?? ''))));
}

function measureSteadiness(feed: FeedReader): Steadiness {
  const found: Steadiness = { firstPartialMs: [], partialWords: 0, revisedWords: 0, stableWords: 0, stableWrong: 0 };
  for (const captions of utterances(feed).values()) measureUtterance(captions, found);
  return found;
}

function utterances(feed: FeedReader): Map<string, CaptionEvent[]> {
  const byUtterance = new Map<string, CaptionEvent[]>();
  for (const event of feed.events) {
    if (event.type !== 'caption') continue;
    const key = `${event.callId} ${event.track} ${event.utterance}`;
    byUtterance.set(key, [...(byUtterance.get(key) ?? []), event]);
  }
  return byUtterance;
}

function measureUtterance(captions: readonly CaptionEvent[], found: Steadiness): void {
  const partials = captions.filter((caption) => !caption.final);
  const [first] = partials;
  const last = captions.at(-1);
  if (first === undefined || last === undefined || !last.final) return;
  found.firstPartialMs.push(first.endMs - first.startMs + first.lagMs);
  const words = captions.map((caption) => normaliseWords(caption.text));
  for (let i = 0; i + 1 < words.length; i++) {
    found.partialWords += words[i]?.length ?? 0;
    found.revisedWords += wrongWords(words[i + 1] ?? [], words[i] ?? []);
  }
  const stable = normaliseWords(partials.at(-1)?.stable ?? '');
  found.stableWords += stable.length;
  found.stableWrong += wrongWords(normaliseWords(last.text), stable);
}

/** Words of `shown` that `truth` has otherwise or not at all; words still to come do not count. */
function wrongWords(truth: readonly string[], shown: readonly string[]): number {
  const edits = countEdits(truth, shown);
  return edits.substitutions + edits.insertions;
}

interface Found {
  readonly prompts: readonly Prompt[];
  readonly calls: readonly PromptCall[];
  readonly live: Edits;
  readonly whole: Edits;
  readonly steadiness: Steadiness;
  readonly falseCaptions: readonly { signal: string; captions: number }[];
  readonly pauses: readonly CauseFound[];
}

function report(found: Found): Report {
  const liveWer = wordErrorRate(found.live);
  const wholeWer = wordErrorRate(found.whole);
  const { steadiness } = found;
  const firstMs = quantile(steadiness.firstPartialMs, 0.5);
  const wrongShare = (100 * steadiness.stableWrong) / Math.max(steadiness.stableWords, 1);
  const lost = revisedLoss(found.pauses.find(({ title }) => title === PAUSES)?.calls ?? []).points;
  const falseCount = found.falseCaptions.reduce((sum, { captions }) => sum + captions, 0);
  return {
    name: 'accuracy',
    about:
      `${found.prompts.length} human prompts of Debian's asterisk-core-sounds-en-wav (one voice, 8 kHz) as ` +
      `${found.calls.length} simulated Twilio calls in real time, ` +
      `${CALLS_AT_ONCE} at once, against their published text; and ${found.falseCaptions.length} kinds of ` +
      `non-speech of ${NON_SPEECH_SECONDS} s each.`,
    tables: [
      {
        title: 'Word error rate',
        heads: ['path', 'WER, %', 'substituted', 'deleted', 'inserted', 'words'],
        rows: [
          werRow('live: µ-law, real-time windows, finals', found.live),
          werRow('off line: µ-law, each prompt decoded whole', found.whole),
        ],
      },
      {
        title: 'Partial captions',
        heads: ['figure', 'value'],
        rows: [
          ['speech start → first partial, p50', `${figure(firstMs)} ms`],
          ['speech start → first partial, p95', `${figure(quantile(steadiness.firstPartialMs, 0.95))} ms`],
          [
            'words revised by the next caption',
            `${figure((100 * steadiness.revisedWords) / Math.max(steadiness.partialWords, 1), 1)} %`,
          ],
          ['stable words that the final has otherwise', `${figure(wrongShare, 1)} % of ${steadiness.stableWords}`],
        ],
      },
      pauseTable(found.pauses),
      {
        title: 'Captions on what is not speech',
        heads: ['signal', 'captions'],
        rows: found.falseCaptions.map(({ signal, captions }) => [signal, captions]),
      },
    ],
    goals: [
      { goal: 'live WER ≤ 6 %', found: `${figure(liveWer, 2)} %`, met: liveWer <= 6 },
      {
        goal: 'within 1 point of whole-utterance WER',
        found: `${figure(liveWer - wholeWer, 2)} points`,
        met: liveWer - wholeWer <= 1,
      },
      {
        goal: 'speech with pauses: revised within 1.5 points of the file',
        found: `${figure(lost, 2)} points`,
        met: lost <= 1.5,
      },
      { goal: '0 captions on non-speech', found: `${falseCount}`, met: falseCount === 0 },
      { goal: 'first partial p50 ≤ 600 ms', found: `${figure(firstMs)} ms`, met: firstMs <= 600 },
      { goal: 'stable words later wrong ≤ 5 %', found: `${figure(wrongShare, 1)} %`, met: wrongShare <= 5 },
    ],
  };
}

function werRow(path: string, edits: Edits): (string | number)[] {
  return [path, figure(wordErrorRate(edits), 2), edits.substitutions, edits.deletions, edits.insertions, edits.words];
}
