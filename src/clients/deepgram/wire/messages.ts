/** What Deepgram's clients are told over `/v1/listen` (developers.deepgram.com, "Live audio"). Times are seconds. */
import { modelUuid } from '../../../foundation/model-uuid.ts';

/** A word, with its times in ms of the stream. */
export interface SaidWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** From 0 to 1; absent = as that of the whole text. */
  readonly confidence?: number;
}

/** What is being said, or with `final` what was said. Times are ms of the stream. */
export interface SaidText {
  readonly text: string;
  readonly final: boolean;
  readonly startMs: number;
  readonly endMs: number;
  readonly words: readonly SaidWord[];
  /** From 0 to 1; absent = nobody can tell. */
  readonly confidence?: number;
  /** BCP 47; null or absent = not known. */
  readonly language?: string | null;
}

/** The recogniser, as clients are told of it. */
export interface ModelInfo {
  readonly name: string;
  readonly version: string;
  readonly arch: string;
}

/** What every message of one stream says of it. */
export interface StreamFacts {
  readonly requestId: string;
  readonly model: ModelInfo;
  readonly channels: number;
  readonly isPunctuated: boolean;
}

/** Which Results it is. */
export interface ResultsMarks {
  readonly channel: number;
  readonly speechFinal: boolean;
  readonly fromFinalize: boolean;
}

/** Where the recogniser cannot say how sure it is. Clients compare numbers and take none for an error. */
const UNKNOWN_CONFIDENCE = 0.9;
const OPENING = /^[\p{Ps}\p{Pi}\p{Pd}"'¿¡…]+/u;
const CLOSING = /(?<![.,;:!?…\p{Pe}\p{Pf}\p{Pd}"'。，、！？；：])[.,;:!?…\p{Pe}\p{Pf}\p{Pd}"'。，、！？；：]+$/u;

/** A word without capitals and the punctuation around it, as `word` has it. */
export function bareWord(text: string): string {
  const bare = text.toLowerCase().replace(OPENING, '').replace(CLOSING, '');
  return bare === '' ? text : bare;
}

/** `said` as a message of type Results. */
export function resultsOf(said: SaidText, { channel, speechFinal, fromFinalize }: ResultsMarks, facts: StreamFacts) {
  const { requestId, model, channels, isPunctuated } = facts;
  const confidence = said.text === '' ? 0 : (said.confidence ?? UNKNOWN_CONFIDENCE);
  return {
    type: 'Results',
    channel_index: [channel, channels],
    duration: seconds(Math.max(said.endMs - said.startMs, 0)),
    start: seconds(said.startMs),
    is_final: said.final,
    speech_final: speechFinal,
    channel: {
      alternatives: [
        {
          transcript: isPunctuated ? said.text : bareText(said.text),
          confidence: share(confidence),
          ...(typeof said.language === 'string' && { languages: [said.language] }),
          words: said.words.map((word) => wordOf(word, confidence, isPunctuated)),
        },
      ],
    },
    metadata: { request_id: requestId, model_info: model, model_uuid: modelUuid(model.name) },
    from_finalize: fromFinalize,
  } as const;
}

/** Somebody begins to speak. */
export function speechStartedOf(channel: number, atMs: number, { channels }: StreamFacts) {
  return { type: 'SpeechStarted', channel: [channel, channels], timestamp: seconds(atMs) } as const;
}

/** No word has come for a while since `lastWordEndMs`. */
export function utteranceEndOf(channel: number, lastWordEndMs: number, { channels }: StreamFacts) {
  return { type: 'UtteranceEnd', channel: [channel, channels], last_word_end: seconds(lastWordEndMs) } as const;
}

/** What was taken in all: the last message. `sha256` of its bytes in hex; `created` in ISO 8601. */
export function metadataOf(
  { sha256, created, durationMs }: { sha256: string; created: string; durationMs: number },
  { requestId, channels, model }: StreamFacts,
) {
  const uuid = modelUuid(model.name);
  return {
    type: 'Metadata',
    transaction_key: 'deprecated',
    request_id: requestId,
    sha256,
    created,
    duration: seconds(durationMs),
    channels,
    models: [uuid],
    model_info: { [uuid]: model },
  } as const;
}

/** The answer to a Configure. */
export function configuredOf(
  { hotWords, refused }: { hotWords: readonly string[] | null; refused: readonly string[] },
  { requestId }: Pick<StreamFacts, 'requestId'>,
) {
  if (refused.length > 0)
    return {
      type: 'ConfigureFailure',
      request_id: requestId,
      code: 'UNSUPPORTED_FEATURE',
      description: `features: got ${refused.join(', ')}, expected none: they cannot be changed in a stream`,
    } as const;
  return { type: 'ConfigureSuccess', request_id: requestId, ...(hotWords !== null && { keyterms: hotWords }) } as const;
}

/** Any message of a `/v1/listen`. */
export type ListenMessage =
  | ReturnType<typeof resultsOf>
  | ReturnType<typeof speechStartedOf>
  | ReturnType<typeof utteranceEndOf>
  | ReturnType<typeof metadataOf>
  | ReturnType<typeof configuredOf>;

function wordOf({ text, startMs, endMs, confidence }: SaidWord, ofAll: number, isPunctuated: boolean) {
  return {
    word: bareWord(text),
    start: seconds(startMs),
    end: seconds(Math.max(endMs, startMs)),
    confidence: share(confidence ?? ofAll),
    ...(isPunctuated && { punctuated_word: text }),
  } as const;
}

function bareText(text: string): string {
  return text
    .split(/\s+/)
    .map((word) => bareWord(word))
    .join(' ');
}

/** Seconds to the ms. */
export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

function share(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
