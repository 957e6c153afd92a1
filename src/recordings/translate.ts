/**
 * Translation by a chat endpoint with OpenAI's API. It gets only lists of texts, not the numbers and times of
 * subtitles.
 */

import { z } from 'zod';
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import { askChat, type ChatMessage, parseJson } from '../foundation/chat-endpoint.ts';
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { msToSamples } from '../foundation/units.ts';
import { estimateWordTimes, type TimedWord } from '../transcription/estimated-word-times.ts';
import type { Span } from '../transcription/speech-clips.ts';
import type { RecordingTranscript, Segment } from './transcribe.ts';

/** The settings of a translator. */
export type TranslatorSettings = Pick<
  Settings,
  'TRANSLATE_BASE_URL' | 'TRANSLATE_API_KEY' | 'TRANSLATE_MODEL' | 'TRANSLATE_TIMEOUT_MS'
>;

/** Most lines and characters of one request: with more a small model loses count. */
const LINES_MAX = 40;
const CHARS_MAX = 4000;
/** Attempts for one list. */
const ATTEMPTS_MAX = 3;
const ANSWER_MAX_BYTES = 800_000;

const linesSchema = z.array(z.string());

/** Translates lists of lines. */
export class Translator {
  readonly #settings: TranslatorSettings;
  readonly #clock: Clock;

  constructor(options: { settings: TranslatorSettings; clock: Clock }) {
    this.#settings = options.settings;
    this.#clock = options.clock;
  }

  /** @throws TrunklineError `unsupported_model` where no endpoint is configured */
  assertConfigured(): void {
    const { TRANSLATE_BASE_URL, TRANSLATE_MODEL } = this.#settings;
    if (TRANSLATE_BASE_URL !== '' && TRANSLATE_MODEL !== '') return;
    throw new TrunklineError(
      'unsupported_model',
      'translation is not configured: set LLM_BASE_URL, and TRANSLATE_MODEL or LLM_MODEL',
      'model',
    );
  }

  /**
   * One translation for each of `lines`, in order. `language` is an English name.
   * @throws TrunklineError `translation_failed`; the reason of `signal` when that aborts
   */
  async translate(lines: readonly string[], language: string, signal: AbortSignal): Promise<string[]> {
    this.assertConfigured();
    const translated: string[] = [];
    for (const list of inLists(lines)) translated.push(...(await this.#translateList(list, language, signal)));
    return translated;
  }

  async #translateList(lines: readonly string[], language: string, signal: AbortSignal): Promise<string[]> {
    let complaint = '';
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const answer = await this.#ask(lines, language, signal);
      if (answer.ok && answer.lines.length === lines.length) return answer.lines;
      complaint = answer.ok ? `the model returned ${answer.lines.length} lines for ${lines.length}` : answer.complaint;
    }
    throw new TrunklineError(
      'translation_failed',
      `the translation failed ${ATTEMPTS_MAX} times; the last time ${complaint}`,
    );
  }

  async #ask(lines: readonly string[], language: string, signal: AbortSignal): Promise<Answer> {
    const { TRANSLATE_BASE_URL, TRANSLATE_API_KEY, TRANSLATE_MODEL, TRANSLATE_TIMEOUT_MS } = this.#settings;
    const endpoint = {
      baseUrl: TRANSLATE_BASE_URL,
      apiKey: TRANSLATE_API_KEY,
      model: TRANSLATE_MODEL,
      timeoutMs: TRANSLATE_TIMEOUT_MS,
    };
    const options = { clock: this.#clock, signal, answerMaxBytes: ANSWER_MAX_BYTES };
    const answer = await askChat(endpoint, messagesFor(lines, language), options);
    return answer.ok ? readLines(answer.content) : answer;
  }
}

/**
 * `recording` with translated segments. The words of a segment share the time of its original. Segments with an empty
 * translation are left out.
 * @throws what `translate` throws
 */
export async function translateSegments(
  recording: RecordingTranscript,
  translate: (lines: readonly string[]) => Promise<readonly string[]>,
): Promise<RecordingTranscript> {
  const texts = await translate(recording.segments.map(({ text }) => text));
  const segments = recording.segments.map((segment, index) => withText(segment, texts[index]?.trim() ?? ''));
  return { ...recording, segments: segments.filter(({ text }) => text !== '') };
}

function withText(segment: Segment, text: string): Segment {
  const speech = spansOf(segment.words);
  const clip = { from: speech[0]?.from ?? 0, to: speech.at(-1)?.to ?? 0, samples: new Int16Array(0), speech };
  return { ...segment, text, words: estimateWordTimes(text, clip), wordTimes: 'estimated' };
}

/** Spans of words without a pause between them. */
function spansOf(words: readonly TimedWord[]): Span[] {
  const spans: Span[] = [];
  for (const { startMs, endMs } of words) {
    const [from, to] = [msToSamples(startMs, ENGINE_RATE_HZ), msToSamples(endMs, ENGINE_RATE_HZ)];
    const last = spans.at(-1);
    if (last?.to === from) spans.splice(-1, 1, { from: last.from, to });
    else spans.push({ from, to });
  }
  return spans;
}

type Answer = { readonly ok: true; readonly lines: string[] } | { readonly ok: false; readonly complaint: string };

function messagesFor(lines: readonly string[], language: string): ChatMessage[] {
  const order =
    `You translate lines of a transcript into ${language}. You get a JSON list of strings and answer with a ` +
    'JSON list of as many strings and nothing else: the translation of each line in its place. Never join, ' +
    'split, number or leave out lines.';
  return [
    { role: 'system', content: order },
    { role: 'user', content: JSON.stringify(lines) },
  ];
}

/** Models often put a list between code fences, or text before it. */
function readLines(content: string): Answer {
  const list = linesSchema.safeParse(parseJson(content.slice(content.indexOf('['), content.lastIndexOf(']') + 1)));
  return list.success
    ? { ok: true, lines: list.data }
    : { ok: false, complaint: 'the model did not answer with a list' };
}

function inLists(lines: readonly string[]): string[][] {
  const lists: string[][] = [];
  let chars = 0;
  for (const line of lines) {
    const list = lists.at(-1);
    chars += line.length;
    if (list !== undefined && list.length < LINES_MAX && chars <= CHARS_MAX) {
      list.push(line);
    } else {
      lists.push([line]);
      chars = line.length;
    }
  }
  return lists;
}
