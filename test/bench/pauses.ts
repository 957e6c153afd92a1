/**
 * Live captions beside the same audio as a file, on speech with pauses inside its phrases: what was captioned at first,
 * what it was revised to, and what `/v1/audio/transcriptions` makes of the whole recording.
 */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { writeWav } from '../../src/audio/wav.ts';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import type { FeedReader } from '../helpers/feed.ts';
import { uniform } from '../helpers/signals.ts';
import { CAUSES, dividePrompts, type PausedCall, pausedCalls } from './pause-set.ts';
import { figure, type Table } from './report.ts';
import { countEdits, type Edits, sumEdits, wordErrorRate } from './wer/align.ts';
import { normaliseWords } from './wer/normalise.ts';
import { throughPhone } from './whole-recordings.ts';

const CALLS_AT_ONCE = 8;
const RESAMPLES = 2000;

/** The edits of one call in three readings. */
interface CallEdits {
  readonly file: Edits;
  readonly live: Edits;
  readonly revised: Edits;
}

/** One cause: its calls' edits. */
export interface CauseFound {
  readonly title: string;
  readonly calls: readonly CallEdits[];
}

/** Measures every cause, on every `every`-th prompt of each. */
export async function measurePauses(url: string, feed: FeedReader, every: number): Promise<CauseFound[]> {
  const prompts = await dividePrompts(every);
  const found: CauseFound[] = [];
  for (const [number, cause] of CAUSES.entries()) {
    const calls = await measureCalls(pausedCalls(prompts, cause), { url, feed, name: `CApauses${number}n` });
    found.push({ title: cause.title, calls });
    process.stderr.write(`${cause.title}: ${rates(calls).join(' ')}\n`);
  }
  return found;
}

/** Word error rates as a table, with the bootstrap interval of what the revised captions lose against the file. */
export function pauseTable(found: readonly CauseFound[]): Table {
  return {
    title: 'Speech with pauses: live beside the file',
    heads: ['cause', 'words', 'file, %', 'live at first, %', 'live revised, %', 'revised − file, points (95 %)'],
    rows: found.map(({ title, calls }) => {
      const [file, live, revised] = rates(calls);
      const { points, least, most } = revisedLoss(calls);
      const interval = `${figure(points, 2)} (${figure(least, 2)} to ${figure(most, 2)})`;
      return [title, sumEdits(calls.map((call) => call.file)).words, file ?? '', live ?? '', revised ?? '', interval];
    }),
  };
}

/** Points of word error rate that the revised captions lose against the file, and their 95 % bootstrap interval. */
export function revisedLoss(calls: readonly CallEdits[]): { points: number; least: number; most: number } {
  const loss = (chosen: readonly CallEdits[]): number =>
    wordErrorRate(sumEdits(chosen.map(({ revised }) => revised))) -
    wordErrorRate(sumEdits(chosen.map(({ file }) => file)));
  const random = uniform(1);
  const drawn = Array.from({ length: RESAMPLES }, () =>
    loss(calls.map(() => calls[Math.floor(random() * calls.length)] as CallEdits)),
  ).sort((a, b) => a - b);
  return {
    points: loss(calls),
    least: drawn[Math.floor(0.025 * RESAMPLES)] ?? Number.NaN,
    most: drawn[Math.floor(0.975 * RESAMPLES)] ?? Number.NaN,
  };
}

function rates(calls: readonly CallEdits[]): string[] {
  return [calls.map(({ file }) => file), calls.map(({ live }) => live), calls.map(({ revised }) => revised)].map(
    (edits) => figure(wordErrorRate(sumEdits(edits)), 2),
  );
}

async function measureCalls(
  calls: readonly PausedCall[],
  { url, feed, name }: { url: string; feed: FeedReader; name: string },
): Promise<CallEdits[]> {
  const edits: CallEdits[] = [];
  const waiting = [...calls.entries()];
  const lines = Array.from({ length: CALLS_AT_ONCE }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, { samples, words }] = next;
      const callSid = `${name}${index}`;
      await placeCall({
        url: mediaUrl(url),
        tracks: { inbound: samples },
        pace: 'realtime',
        clock: systemClock,
        callSid,
      });
      await feed.until((event) => event.type === 'call.ended' && event.callId === callSid);
      const { first, revised } = readings(feed.events.filter((event) => event.callId === callSid));
      const file = await transcribeFile(url, samples);
      const of = (text: string): Edits => countEdits(words, normaliseWords(text));
      edits[index] = { file: of(file), live: of(first), revised: of(revised) };
    }
  });
  await Promise.all(lines);
  return edits;
}

/** The call's text by its final captions, and by the last version of each. */
function readings(events: readonly FeedEvent[]): { first: string; revised: string } {
  const first = new Map<number, string>();
  const revised = new Map<number, string>();
  for (const event of events) {
    if (event.type === 'caption' && event.final) first.set(event.utterance, event.text);
    if (event.type === 'revision') revised.set(event.utterance, event.text);
  }
  const inOrder = [...first.keys()].sort((a, b) => a - b);
  return {
    first: inOrder.map((utterance) => first.get(utterance)).join(' '),
    revised: inOrder.map((utterance) => revised.get(utterance) ?? first.get(utterance)).join(' '),
  };
}

/** The same audio, through µ-law, as a recording. */
async function transcribeFile(url: string, samples: Int16Array): Promise<string> {
  const form = new FormData();
  const wav = writeWav([throughPhone(samples)], ENGINE_RATE_HZ);
  form.set('file', new Blob([new Uint8Array(wav)]), 'call.wav');
  form.set('response_format', 'json');
  const answer = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
  if (!answer.ok) throw new Error(`the recording was answered with ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { text: string }).text;
}

function mediaUrl(url: string): string {
  return `${url.replace(/^http/, 'ws')}/twilio/media`;
}
