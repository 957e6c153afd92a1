/** The messages of jambonz's custom speech vendors (docs.jambonz.org, "Custom speech"). */
import { TrunklineError } from '../../../foundation/errors.ts';
import { describe, isObject, type Json, malformed, parseMessage } from '../../../protocols/json.ts';

const LANGUAGE_MAX_CHARS = 40;
const HINTS_MAX_CHARS = 32_768;
const RATE_MIN_HZ = 8000;
const RATE_MAX_HZ = 48_000;
const TELEPHONE_RATE_HZ = 8000;
/** Where the recogniser cannot say how sure it is. */
const UNKNOWN_CONFIDENCE = 0.9;

/** What begins a recognition. */
export interface StartMessage {
  readonly type: 'start';
  /** BCP 47; empty = none is named. */
  readonly language: string;
  readonly rateHz: number;
  readonly interimResults: boolean;
  /** Names and phrases that are likely to be said. */
  readonly hints: readonly string[];
}

/**
 * Reads a text of jambonz on the socket for recognition. Null = one that means nothing here.
 * @throws TrunklineError `message_malformed`, or `codec_unsupported` for other sound than LINEAR16
 */
export function readRecogniserMessage(text: string): StartMessage | { readonly type: 'stop' } | null {
  const message = parseMessage(text);
  if (message['type'] === 'stop') return { type: 'stop' };
  if (message['type'] !== 'start') return null;
  const { language = '', encoding = 'LINEAR16', interimResults, options } = message;
  if (typeof language !== 'string' || language.length > LANGUAGE_MAX_CHARS)
    throw malformed('language', language, `a language of at most ${LANGUAGE_MAX_CHARS} characters`);
  if (typeof encoding !== 'string' || encoding.toUpperCase() !== 'LINEAR16')
    throw new TrunklineError('codec_unsupported', `encoding: got ${describe(encoding)}, expected "LINEAR16"`);
  return {
    type: 'start',
    language,
    rateHz: readRate(message['sampleRateHz']),
    interimResults: interimResults === true,
    hints: readHints(isObject(options) ? options['hints'] : undefined),
  };
}

function readRate(value: unknown): number {
  if (value === undefined || value === null) return TELEPHONE_RATE_HZ;
  const rateHz = typeof value === 'string' && /^\d{4,5}$/.test(value) ? Number(value) : value;
  const isRate =
    typeof rateHz === 'number' && Number.isInteger(rateHz) && rateHz >= RATE_MIN_HZ && rateHz <= RATE_MAX_HZ;
  if (isRate) return rateHz;
  throw malformed('sampleRateHz', value, `a whole number from ${RATE_MIN_HZ} to ${RATE_MAX_HZ}`);
}

/** A list of phrases, or where they have boosts the JSON of a list of objects. */
function readHints(value: unknown): string[] {
  const list = typeof value === 'string' ? parsedList(value) : value;
  if (!Array.isArray(list)) return [];
  return list.flatMap((hint: unknown) => {
    const phrase = isObject(hint) ? hint['phrase'] : hint;
    return typeof phrase === 'string' ? phrase : [];
  });
}

function parsedList(text: string): unknown {
  if (text.length > HINTS_MAX_CHARS) return [];
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}

/** What was said, or is being said. */
export interface Transcribed {
  readonly text: string;
  readonly final: boolean;
  readonly confidence?: number;
  readonly language?: string | null;
}

/** `said` for jambonz, which reads `is_final` and the first alternative. */
export function transcriptionMessage({ text, final, confidence, language }: Transcribed, asked: string): string {
  return JSON.stringify({
    type: 'transcription',
    is_final: final,
    alternatives: [{ transcript: text, confidence: confidence ?? UNKNOWN_CONFIDENCE }],
    channel: 1,
    language: language ?? asked,
  });
}

/** Tells jambonz that it failed: it may go on with another vendor. */
export function errorMessage(message: string): string {
  return JSON.stringify({ type: 'error', error: message });
}

/** The body of a `POST` for speech. */
export interface SpeechBody {
  readonly text: string;
  readonly voice: string | null;
  readonly language: string | null;
}

/**
 * Reads the body of a request for speech; of SSML the text alone is left.
 * @throws TrunklineError `message_malformed` or `message_too_large`
 */
export function readSpeechBody(body: string, textMaxChars: number): SpeechBody {
  const message = parseMessage(body);
  const text = textIn(message, textMaxChars);
  return {
    text: message['type'] === 'ssml' ? withoutTags(text) : text,
    voice: nameIn(message, 'voice'),
    language: nameIn(message, 'language'),
  };
}

/** What jambonz says on the socket for speech. */
export type SpeechMessage =
  | { readonly type: 'stream'; readonly text: string }
  | { readonly type: 'flush' | 'clear' | 'stop' };

const SPEECH_COMMANDS = ['flush', 'clear', 'stop'] as const;

/** @throws TrunklineError `message_malformed` or `message_too_large`; null = one that means nothing here */
export function readSpeechMessage(text: string, textMaxChars: number): SpeechMessage | null {
  const message = parseMessage(text);
  if (message['type'] === 'stream') return { type: 'stream', text: textIn(message, textMaxChars) };
  const command = SPEECH_COMMANDS.find((each) => each === message['type']);
  return command === undefined ? null : { type: command };
}

/** The first message of a socket for speech: bare samples at `rateHz` follow. */
export function connectMessage(rateHz: number): string {
  return JSON.stringify({ type: 'connect', data: { sample_rate: rateHz, base64_encoding: false } });
}

function textIn(message: Json, textMaxChars: number): string {
  const { text } = message;
  if (typeof text !== 'string') throw malformed('text', text, 'a string');
  if (text.length <= textMaxChars) return text;
  throw new TrunklineError(
    'message_too_large',
    `text: got ${text.length} characters, expected at most ${textMaxChars}`,
  );
}

function nameIn(message: Json, key: 'voice' | 'language'): string | null {
  const value = message[key];
  return typeof value === 'string' && value !== '' && value.length <= LANGUAGE_MAX_CHARS ? value : null;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of SSML: an element may stand between two words, so it becomes a space. */
function withoutTags(ssml: string): string {
  return ssml
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|apos);/g, (_whole, name: string) => ENTITIES[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
