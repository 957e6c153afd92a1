/** What a client writes over `/v1/listen` and `/v2/listen` beside audio. */
import { boundHotWords, tidyHotWords } from '../../../foundation/hot-words.ts';
import { isObject, type Json, parseMessage } from '../../../protocols/json.ts';

/** `other`: a message that says nothing here, of this type. */
export type ClientMessage =
  | { readonly type: 'KeepAlive' | 'CloseStream' }
  /** Of Flux: the turn is over, whatever was heard of its end. */
  | { readonly type: 'ForceEndTurn' }
  /** `channel`: this one alone is to answer; null = all of them. */
  | { readonly type: 'Finalize'; readonly channel: number | null }
  | ConfigureMessage
  | { readonly type: 'other'; readonly name: string };

/** A change in the middle of a stream. */
export interface ConfigureMessage {
  readonly type: 'Configure';
  /** Null = they stay as they are. */
  readonly hotWords: readonly string[] | null;
  /** Confidences of Flux; null = it stays as it is. */
  readonly eagerThreshold: number | null;
  /** Names of what cannot be changed here. */
  readonly refused: readonly string[];
}

const CHANNEL_MAX = 7;
const WORDS_FIELDS = ['keyterm', 'keyterms'];
const NAMES_MAX = 10;

/**
 * Reads one text message.
 * @throws TrunklineError `message_malformed` for what is no JSON object
 */
export function readClientMessage(text: string): ClientMessage {
  const message = parseMessage(text);
  const { type } = message;
  if (type === 'KeepAlive' || type === 'CloseStream' || type === 'ForceEndTurn') return { type };
  if (type === 'Finalize') return { type, channel: readChannel(message['channel']) };
  if (type === 'Configure') return readConfigure(message);
  return { type: 'other', name: typeof type === 'string' ? type : '' };
}

function readChannel(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= CHANNEL_MAX ? value : null;
}

function readConfigure(message: Json): ConfigureMessage {
  const words = WORDS_FIELDS.map((name) => message[name]).find((value) => Array.isArray(value));
  const thresholds = isObject(message['thresholds']) ? message['thresholds'] : {};
  const features = isObject(message['features']) ? Object.keys(message['features']) : [];
  const eager = thresholds['eager_eot_threshold'];
  return {
    type: 'Configure',
    hotWords:
      words === undefined ? null : boundHotWords(tidyHotWords(words.filter((word) => typeof word === 'string'))),
    eagerThreshold: typeof eager === 'number' && eager >= 0 && eager <= 1 ? eager : null,
    refused: features.filter((name) => /^\w{1,40}$/.test(name)).slice(0, NAMES_MAX),
  };
}
