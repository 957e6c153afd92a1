/** A transcribed recording as Deepgram's clients expect it (developers.deepgram.com, "Pre-recorded audio"). */

import { modelUuid } from '../../../foundation/model-uuid.ts';
import type { FileQuery } from './file-query.ts';
import { bareWord, type ModelInfo, metadataOf, type SaidWord, seconds } from './messages.ts';

/** A word of a recording, with its times in ms. */
export interface FileWord extends SaidWord {
  /** Whether a space stands before it when it is not the first. */
  readonly spaced: boolean;
  /** Counts from 0. */
  readonly channel: number;
}

/** What is known of a recording beside its words. */
export interface FileFacts {
  readonly requestId: string;
  readonly model: ModelInfo;
  /** Of the bytes that came, in hex. */
  readonly sha256: string;
  /** ISO 8601. */
  readonly created: string;
  readonly durationMs: number;
  /** Channels of the recording that were transcribed by themselves; 1 = they were mixed. */
  readonly channels: number;
  /** BCP 47; null = nothing that the recogniser understands. */
  readonly language: string | null;
}

type Options = Pick<
  FileQuery,
  'multichannel' | 'diarize' | 'utterances' | 'utteranceSplitMs' | 'paragraphs' | 'isPunctuated' | 'detectLanguage'
>;

/** Where the recogniser cannot say how sure it is, as in live answers. */
const UNKNOWN_CONFIDENCE = 0.9;
const SENTENCE_END = /[.!?…。！？]["'”’)]?$/;
/** A paragraph ends with a sentence, when it has so many or somebody pauses for so long. */
const PARAGRAPH_SENTENCES = 5;
const PARAGRAPH_PAUSE_MS = 2000;

/** The body of the answer. `words` in the order of their beginning. */
export function fileAnswer(words: readonly FileWord[], facts: FileFacts, options: Options): object {
  const { type: _type, ...metadata } = metadataOf(facts, { ...facts, isPunctuated: options.isPunctuated });
  const channels = options.multichannel ? facts.channels : 1;
  const isOf = (channel: number) => (word: FileWord) => !options.multichannel || word.channel === channel;
  return {
    metadata: { ...metadata, channels },
    results: {
      channels: Array.from({ length: channels }, (_, channel) =>
        channelOf(words.filter(isOf(channel)), facts, options),
      ),
      ...(options.utterances && { utterances: utterancesOf(words, facts, options) }),
    },
  };
}

function channelOf(words: readonly FileWord[], { language }: FileFacts, options: Options): object {
  return {
    alternatives: [
      {
        transcript: textOf(words, options),
        confidence: words.length === 0 ? 0 : confidenceOf(words),
        words: words.map((word) => wordOf(word, options)),
        ...(options.paragraphs && { paragraphs: paragraphsOf(words, options) }),
      },
    ],
    ...(options.detectLanguage && language !== null && { detected_language: language }),
  };
}

function wordOf({ text, startMs, endMs, channel, ...word }: FileWord, { isPunctuated, diarize }: Options): object {
  return {
    word: bareWord(text),
    start: seconds(startMs),
    end: seconds(Math.max(endMs, startMs)),
    confidence: word.confidence ?? UNKNOWN_CONFIDENCE,
    ...(isPunctuated && { punctuated_word: text }),
    ...(diarize && { speaker: channel, speaker_confidence: 1 }),
  };
}

function textOf(words: readonly FileWord[], { isPunctuated }: Pick<Options, 'isPunctuated'>): string {
  return words
    .map(({ text, spaced }, at) => (at > 0 && spaced ? ' ' : '') + (isPunctuated ? text : bareWord(text)))
    .join('');
}

function confidenceOf(words: readonly FileWord[]): number {
  const sum = words.reduce((total, { confidence = UNKNOWN_CONFIDENCE }) => total + confidence, 0);
  return Math.round((sum / words.length) * 10_000) / 10_000;
}

/** `words` in stretches; another begins before each word of which `isNew` is true. */
function cut(
  words: readonly FileWord[],
  isNew: (word: FileWord, before: FileWord, stretch: FileWord[]) => boolean,
): FileWord[][] {
  const stretches: FileWord[][] = [];
  for (const word of words) {
    const stretch = stretches.at(-1);
    const before = stretch?.at(-1);
    if (stretch === undefined || before === undefined || isNew(word, before, stretch)) stretches.push([word]);
    else stretch.push(word);
  }
  return stretches;
}

/** Who says something without a longer pause; each channel by itself. */
function utterancesOf(words: readonly FileWord[], { requestId, channels }: FileFacts, options: Options): object[] {
  const stretches = Array.from({ length: channels }, (_, channel) =>
    cut(
      words.filter((word) => word.channel === channel),
      ({ startMs }, { endMs }) => startMs - endMs >= options.utteranceSplitMs,
    ),
  ).flat();
  const sorted = stretches.toSorted((a, b) => startOf(a) - startOf(b));
  return sorted.map((stretch, at) => {
    const channel = stretch[0]?.channel ?? 0;
    return {
      start: seconds(startOf(stretch)),
      end: seconds(endOf(stretch)),
      confidence: confidenceOf(stretch),
      channel: options.multichannel ? channel : 0,
      transcript: textOf(stretch, options),
      words: stretch.map((word) => wordOf(word, options)),
      ...(options.diarize && { speaker: channel }),
      id: modelUuid(`${requestId} ${at}`),
    };
  });
}

function paragraphsOf(words: readonly FileWord[], options: Options): object {
  let sentences = 1;
  const isSentence = (before: FileWord): boolean => SENTENCE_END.test(before.text);
  const paragraphs = cut(words, (word, before, stretch) => {
    if (stretch.length === 1) sentences = 1;
    if (word.channel !== before.channel) return true;
    if (!isSentence(before)) return false;
    sentences++;
    return sentences > PARAGRAPH_SENTENCES || word.startMs - before.endMs >= PARAGRAPH_PAUSE_MS;
  });
  const shown = paragraphs.map((paragraph) => {
    const parts = cut(paragraph, (_word, before) => isSentence(before)).map((sentence) => ({
      text: textOf(sentence, options),
      start: seconds(startOf(sentence)),
      end: seconds(endOf(sentence)),
    }));
    return {
      sentences: parts,
      ...(options.diarize && { speaker: paragraph[0]?.channel ?? 0 }),
      num_words: paragraph.length,
      start: seconds(startOf(paragraph)),
      end: seconds(endOf(paragraph)),
    };
  });
  const texts = paragraphs.map((paragraph) => {
    const text = textOf(paragraph, options);
    return options.diarize ? `Speaker ${paragraph[0]?.channel ?? 0}: ${text}` : text;
  });
  return { transcript: texts.length === 0 ? '' : `\n${texts.join('\n\n')}`, paragraphs: shown };
}

function startOf(words: readonly FileWord[]): number {
  return words[0]?.startMs ?? 0;
}

function endOf(words: readonly FileWord[]): number {
  return words.reduce((end, { endMs }) => Math.max(end, endMs), 0);
}
