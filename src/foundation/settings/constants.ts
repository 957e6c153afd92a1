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
  /** A call that wants the caller's words while they are said asks for them (`partialPrompts`). */
  APP_PARTIAL_PROMPTS: false,
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
  /** Speech within this time after an utterance is read again together with it (decision 35). */
  JOIN_MS: 3000,
  /** A final waits for ASR_FINAL_MODEL until so long after the end of the utterance (decision 48). */
  FINAL_LATE_MS: 500,
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
  /** Without sound for so long while somebody speaks, silence is assumed. */
  STALL_MS: 750,
  /** A carrier's socket that has begun no stream by then is closed. */
  START_TIMEOUT_MS: 10_000,
  /** The largest message of a WebSocket; some routes have more. */
  MESSAGE_MAX_BYTES: 65_536,
  /** A reader with more than this unread is cut off. */
  SEND_BUFFER_MAX_BYTES: 262_144,
  /** What interrupts: so many words, or speech of this length. */
  BARGE_IN_WORDS: 1,
  BARGE_IN_CONFIRM_MS: 1000,
  /** Most open caption feeds, and as many readers of batches; 0 = a fifth of CONNECTIONS_MAX. */
  FEED_READERS_MAX: 0,
  /** Past events that are in memory for Last-Event-ID. */
  FEED_HISTORY: 2000,
  /** Memory for sentences of calls: 70 minutes. The folder that keeps them has room for nine hours. */
  PROMPT_CACHE_BYTES: 33_554_432,
  PROMPT_CACHE_DIR_BYTES: 268_435_456,
  /** Memory for sentences that were spoken over HTTP. */
  SPEECH_CACHE_BYTES: 16_777_216,
  SPEECH_INPUT_MAX_CHARS: 4096,
  /** Ended calls whose transcript stays in memory. */
  CALLS_KEPT: 100,
  /** Threads of one model run. */
  ENGINE_THREADS: 1,
  /** Engine processes with ASR_FINAL_MODEL; 0 = half as many as the others, at least one. */
  ENGINE_FINAL_WORKERS: 0,
  /** The models are loaded at the start, so that settings which no model can serve are found then. */
  ENGINE_PRELOAD: true,
  /** Recordings that are in work at once, those that wait included. Others are told when to come again. */
  BATCH_QUEUE_MAX: 32,
  /** Batches of one API key that run at once, and what one may have (`npm run bench -- batches` has as many files). */
  BATCHES_MAX: 50,
  BATCH_FILES_MAX: 10_000,
  BATCH_MAX_BYTES: 4_294_967_296,
  /** The longest that ffmpeg may take for one recording. */
  FFMPEG_TIMEOUT_MS: 120_000,
  /** A larger share of what is kept is not deleted at once without `trunkline db sweep --yes` (decision 62). */
  SWEEP_MAX_PERCENT: 33,
  /** RFC 4028 §4 recommends half an hour. 0 = none is asked for. */
  SIP_SESSION_EXPIRES_SECONDS: 1800,
  /** Calls of one SIP address that is no trunk's; 0 = MAX_CALLS, at least 64. */
  SIP_DIALOGS_MAX: 0,
  /** https://opentelemetry.io/docs/specs/otel/protocol/exporter/ */
  OTEL_EXPORTER_OTLP_TIMEOUT: 10_000,
  /** Asterisk 22.9 and later sends nothing in pauses, and some trunks then hang up. */
  ASTERISK_FILL_SILENCE: true,
  /** As OpenAI's sessions end. */
  REALTIME_MAX_MS: 3_600_000,
} as const satisfies Readonly<Record<string, number | boolean>>;

/** Their names and values, as parts read them. */
export type Constants = {
  readonly [K in keyof typeof CONSTANTS]: (typeof CONSTANTS)[K] extends boolean ? boolean : number;
};

/** What follows from other settings where the constant is 0. */
const DERIVED: Readonly<Record<string, string>> = {
  FEED_READERS_MAX: 'a fifth of CONNECTIONS_MAX',
  ENGINE_FINAL_WORKERS: 'half of ENGINE_WORKERS, at least 1',
  SIP_DIALOGS_MAX: 'MAX_CALLS, at least 64',
};

/** Settings that went, each with the value that it has now, as it was written. */
const GONE: Readonly<Record<string, string>> = {
  MODEL_GRAPHS: 'rewritten',
  DECODE_RUN_TOKENS: '16',
  ...Object.fromEntries(Object.entries(CONSTANTS).map(([name, value]) => [name, String(value)])),
};

/** The value that a setting which went has now, for people; null = `name` was none. */
export function valueOfGone(name: string): string | null {
  return Object.hasOwn(GONE, name) ? (DERIVED[name] ?? GONE[name] ?? null) : null;
}

/** One line for each setting that went and that `environment` sets to something else than it is now. */
export function goneIn(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(GONE)
    .filter(([name, value]) => !['', value].includes(environment[name]?.trim() ?? ''))
    .map(([name]) => `${name} is no longer a setting, its value is now ${valueOfGone(name)}: unset it`);
}
