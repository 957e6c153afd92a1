/**
 * What earlier releases had as settings, and what has one value for everybody now: nobody was told when to change them,
 * or their defaults are what was measured. Parts read them beside the settings, so that tests can give them others.
 */
export const CONSTANTS = {
  /** Missing sound is waited for so long, then its loss is concealed. */
  REORDER_MS: 60,
  /** A longer gap in the sound is not filled with silence; it only moves the time of the call. */
  GAP_MAX_MS: 10_000,
  APP_CONNECT_TIMEOUT_MS: 5000,
  /** The largest WAV file that an app may play, and the longest time to fetch it. */
  APP_PLAY_MAX_BYTES: 8_388_608,
  APP_PLAY_TIMEOUT_MS: 10_000,
  /** An app that pauses within an answer for so long: what has arrived is spoken. */
  APP_FLUSH_MS: 1000,
  /** An app that was lost is looked for again for so long. */
  APP_RECONNECT_MS: 15_000,
  /** A model is asked for a hint after so many utterances of a call, and not more often than this. */
  HINTS_EVERY: 4,
  HINTS_INTERVAL_MS: 15_000,
  /** Probabilities of the voice detector. */
  VAD_START_THRESHOLD: 0.5,
  VAD_STOP_THRESHOLD: 0.35,
  MIN_SPEECH_MS: 64,
  /** Sound kept before and after speech. Long silence at the start makes recognition worse. */
  PRE_ROLL_MS: 100,
  POST_ROLL_MS: 100,
  /** The final is computed ahead after so much silence, or at the end of the utterance if that is earlier. */
  EAGER_MS: 192,
  /** Windows of partial captions overlap by so much and are at most so long. */
  OVERLAP_MS: 200,
  WINDOW_MAX_MS: 12_000,
  /** Longer speech is cut before this length. */
  MAX_UTTERANCE_MS: 12_000,
  /** Below this probability of the turn model a turn is held. */
  TURN_HOLD_BELOW: 0.2,
  /** Where digits are expected, silence that ends a turn which has only digits. */
  TURN_DIGITS_MS: 1600,
  /** Sound is sent so far ahead to a carrier that buffers it. */
  PLAYOUT_LEAD_MS: 500,
  /** The largest message of a WebSocket; some routes have more. */
  MESSAGE_MAX_BYTES: 65_536,
  /** A reader with more than this unread is cut off. */
  SEND_BUFFER_MAX_BYTES: 262_144,
  /** What interrupts: so many words, or speech of this length. */
  BARGE_IN_WORDS: 1,
  BARGE_IN_CONFIRM_MS: 1000,
  /** Past events that are in memory for Last-Event-ID. */
  FEED_HISTORY: 2000,
  /** Memory for sentences that were spoken over HTTP. */
  SPEECH_CACHE_BYTES: 16_777_216,
  SPEECH_INPUT_MAX_CHARS: 4096,
  /** Ended calls whose transcript stays in memory. */
  CALLS_KEPT: 100,
  /** Threads of one model run. */
  ENGINE_THREADS: 1,
  /** Asterisk 22.9 and later sends nothing in pauses, and some trunks then hang up. */
  ASTERISK_FILL_SILENCE: true,
  /** As OpenAI's sessions end. */
  REALTIME_MAX_MS: 3_600_000,
} as const satisfies Readonly<Record<string, number | boolean>>;

/** Their names and values, as parts read them. */
export type Constants = {
  readonly [K in keyof typeof CONSTANTS]: (typeof CONSTANTS)[K] extends boolean ? boolean : number;
};

/** Settings that went, each with the value that it has now, as it was written. */
const GONE: Readonly<Record<string, string>> = {
  MODEL_GRAPHS: 'rewritten',
  DECODE_RUN_TOKENS: '16',
  ...Object.fromEntries(Object.entries(CONSTANTS).map(([name, value]) => [name, String(value)])),
};

/** The value that a setting which went has now; null = `name` was none. */
export function valueOfGone(name: string): string | null {
  return Object.hasOwn(GONE, name) ? (GONE[name] ?? null) : null;
}

/** One line for each setting that went and that `environment` sets to something else than it is now. */
export function goneIn(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(GONE)
    .filter(([name, value]) => !['', value].includes(environment[name]?.trim() ?? ''))
    .map(([name, value]) => `${name} is no longer a setting, its value is now ${value}: unset it`);
}
