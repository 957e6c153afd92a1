/**
 * Checks of what the gateway sends, before anything is computed with it: settings and jobs come over a channel that has
 * no types.
 */
import { isAbsolute } from 'node:path';
import {
  CONTEXT_MAX_CHARS,
  DRAFT_TEXT_MAX_CHARS,
  ENGINE_RATE_HZ,
  type EngineJob,
  type EngineSettings,
  HOT_WORD_MAX_CHARS,
  HOT_WORDS_MAX,
  SPEAK_TEXT_MAX_CHARS,
  SPEED_MAX,
  SPEED_MIN,
  TURN_MAX_SAMPLES,
  type Urgency,
  VAD_WINDOW_SAMPLES,
  type VoiceInfo,
} from './contract.ts';
import { EXPECTED_WORD_MAX_CHARS, EXPECTED_WORDS_MAX } from './expected-reading.ts';
import { isModelName } from './models/bridge.ts';
import { type ModelRow, type ModelTable, modelsOf } from './models/model-table.ts';
import { Refusal } from './refusal.ts';

/** Longest stretch that one job may hold, in seconds: longer ones are cut before they come here. */
const JOB_MAX_S = 31;
const JOB_MAX_SAMPLES = JOB_MAX_S * ENGINE_RATE_HZ;
/** A draft longer than any hypothesis for {@link JOB_MAX_S} can be. */
const DRAFT_MAX_TOKENS = 512;
const TRACKS_MAX = 4096;
const THREADS_MAX = 64;
const RUN_MAX_TOKENS = 512;
const CUDA_DEVICE_MAX = 63;

/** An object of unknown shape from the channel. */
export type Message = Readonly<Record<string, unknown>>;

/** What a job must fit, as the loaded models have it. */
export interface ModelLimits {
  /** Draft tokens are whole numbers below this. */
  readonly vocabularySize: number;
  /** Of the recogniser, in BCP-47. */
  readonly languages: readonly string[];
  /** Floats of one track's voice-detector state; null = there is no voice detector. */
  readonly vadStateLength: number | null;
  readonly voices: readonly VoiceInfo[];
  /** Whether there is a turn detector. */
  readonly decidesTurns: boolean;
}

/** Whether `value` can be a message at all. */
export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null;
}

/**
 * The settings in a `configure` message.
 * @throws Refusal `bad_settings`, naming the setting, what came and what is allowed.
 */
export function checkSettings(value: unknown, table: ModelTable): EngineSettings {
  if (!isMessage(value)) throw new Refusal('bad_settings', `settings: got ${describe(value)}, expected an object`);
  const role = checkChoice(value, 'role', ['live', 'final']);
  return {
    role,
    asrModel: checkRecogniser(value['asrModel'], role === 'final' ? 'ASR_FINAL_MODEL' : 'ASR_MODEL', table),
    vadModel: checkModel(value['vadModel'], 'VAD_MODEL', table, 'voice detector'),
    ttsModel: checkModel(value['ttsModel'], 'TTS_MODEL', table, 'synthesizer'),
    turnModel: checkTurnModel(value['turnModel'], table),
    executionProvider: checkChoice(value, 'executionProvider', ['cpu', 'cuda', 'auto']),
    cudaDevice: checkWhole(value, 'cudaDevice', 0, CUDA_DEVICE_MAX),
    threads: checkWhole(value, 'threads', 1, THREADS_MAX),
    modelGraphs: checkChoice(value, 'modelGraphs', ['rewritten', 'shipped']),
    modelCacheDir: checkPath(value, 'modelCacheDir'),
    modelsDir: value['modelsDir'] === '' ? '' : checkPath(value, 'modelsDir'),
    lexiconFile: value['lexiconFile'] === '' ? '' : checkPath(value, 'lexiconFile'),
    decodeRunTokens: checkWhole(value, 'decodeRunTokens', 1, RUN_MAX_TOKENS),
  };
}

/** @param setting what the operator calls it: which models there are is known here alone */
function checkModel(value: unknown, setting: string, table: ModelTable, kind: ModelRow['kind']): string {
  return oneOf(
    value,
    setting,
    modelsOf(table, kind).map(({ name }) => name),
  );
}

/** Whether an installed one has this name is known when its folder is looked for. */
function checkRecogniser(value: unknown, setting: string, table: ModelTable): string {
  if (typeof value === 'string' && (isModelName(value) || isAbsolute(value))) return value;
  const names = modelsOf(table, 'recogniser').flatMap(({ name, family }) => (family === null ? [name] : []));
  throw new Refusal(
    'bad_settings',
    `${setting}: got ${describe(value)}, expected ${names.join(', ')}, the name of an installed model, or the path ` +
      'of a folder',
  );
}

function checkTurnModel(value: unknown, table: ModelTable): string {
  return oneOf(value, 'TURN_MODEL', ['auto', 'off', ...modelsOf(table, 'turn detector').map(({ name }) => name)]);
}

function checkChoice<const T extends string>(settings: Message, name: string, options: readonly T[]): T {
  return oneOf(settings[name], name, options);
}

function oneOf<T extends string>(value: unknown, name: string, options: readonly T[]): T {
  const chosen = options.find((option) => option === value);
  if (chosen !== undefined) return chosen;
  throw new Refusal('bad_settings', `${name}: got ${describe(value)}, expected one of ${options.join(', ')}`);
}

function checkWhole(settings: Message, name: string, minimum: number, maximum: number): number {
  const value = settings[name];
  if (!isWhole(value, minimum, maximum)) {
    throw new Refusal(
      'bad_settings',
      `${name}: got ${describe(value)}, expected a whole number from ${minimum} to ${maximum}`,
    );
  }
  return value;
}

/** The urgencies that each kind of job may have. */
const URGENCIES_OF: ReadonlyMap<unknown, readonly Urgency[]> = new Map<EngineJob['kind'], readonly Urgency[]>([
  ['transcribe', ['final', 'eager', 'partial', 'batch']],
  ['detect', ['detect', 'batch']],
  ['speak', ['speak', 'batch']],
  ['turn', ['turn']],
]);

function checkPath(settings: Message, name: string): string {
  const value = settings[name];
  if (typeof value !== 'string' || !isAbsolute(value)) {
    throw new Refusal('bad_settings', `${name}: got ${describe(value)}, expected an absolute path`);
  }
  return value;
}

/** The job in a message, or what is wrong with it in words: the field, what came and what was expected. */
export function checkJob(message: Message, limits: ModelLimits): EngineJob | string {
  return findJobProblem(message, limits) ?? (message as Message & EngineJob);
}

function findJobProblem(message: Message, limits: ModelLimits): string | null {
  const { kind, dueInMs, urgency } = message;
  const urgencies = URGENCIES_OF.get(kind);
  if (urgencies === undefined) return `kind: got ${describe(kind)}, expected ${[...URGENCIES_OF.keys()].join(', ')}`;
  if (typeof dueInMs !== 'number' || !Number.isFinite(dueInMs))
    return `dueInMs: got ${describe(dueInMs)}, expected a finite number`;
  if (!urgencies.some((name) => name === urgency))
    return `urgency: got ${describe(urgency)}, expected ${urgencies.join(', ')}`;
  if (kind === 'detect') return findTracksProblem(message['tracks'], limits);
  if (kind === 'turn') return findTurnProblem(message, limits);
  return kind === 'speak' ? findTextProblem(message, limits) : findSpeechProblem(message, limits);
}

function findTurnProblem({ samples }: Message, { decidesTurns }: ModelLimits): string | null {
  if (!decidesTurns) return 'kind: got "turn", and there is no turn detector';
  if (!(samples instanceof Int16Array)) return `samples: got ${describe(samples)}, expected an Int16Array`;
  if (samples.length > 0 && samples.length <= TURN_MAX_SAMPLES) return null;
  const maximum = `${TURN_MAX_SAMPLES} (${TURN_MAX_SAMPLES / ENGINE_RATE_HZ} s)`;
  return `samples: got ${samples.length}, expected from 1 to ${maximum}`;
}

function findSpeechProblem(message: Message, limits: ModelLimits): string | null {
  const { samples, draft, timed, spelled, goesOn } = message;
  if (timed !== undefined && typeof timed !== 'boolean') return `timed: got ${describe(timed)}, expected a boolean`;
  if (spelled !== undefined && typeof spelled !== 'boolean')
    return `spelled: got ${describe(spelled)}, expected a boolean`;
  if (goesOn !== undefined && typeof goesOn !== 'boolean') return `goesOn: got ${describe(goesOn)}, expected a boolean`;
  const known = findKnownProblem(message, limits);
  if (known !== null) return known;
  if (!(samples instanceof Int16Array)) return `samples: got ${describe(samples)}, expected an Int16Array`;
  if (samples.length > JOB_MAX_SAMPLES)
    return `samples: got ${samples.length}, expected at most ${JOB_MAX_SAMPLES} (${JOB_MAX_S} s)`;
  if (!Array.isArray(draft) || draft.length > DRAFT_MAX_TOKENS)
    return `draft: expected an array of at most ${DRAFT_MAX_TOKENS} tokens`;
  const wrong = draft.findIndex((token) => !isWhole(token, 0, limits.vocabularySize - 1));
  if (wrong !== -1)
    return `draft: got ${describe(draft[wrong])}, expected tokens from 0 to ${limits.vocabularySize - 1}`;
  return null;
}

/** What is known of the speech before it is read. */
function findKnownProblem(
  { language, hotWords, expectedWords, context, draftText, stream }: Message,
  limits: ModelLimits,
): string | null {
  if (language !== undefined && !limits.languages.some((known) => known === language))
    return `language: got ${describe(language)}, expected one of ${limits.languages.join(', ')}`;
  if (hotWords !== undefined && !areWords(hotWords, HOT_WORDS_MAX, HOT_WORD_MAX_CHARS))
    return `hotWords: expected at most ${HOT_WORDS_MAX} strings of at most ${HOT_WORD_MAX_CHARS} characters`;
  if (expectedWords !== undefined && !areWords(expectedWords, EXPECTED_WORDS_MAX, EXPECTED_WORD_MAX_CHARS))
    return `expectedWords: expected at most ${EXPECTED_WORDS_MAX} strings of ${EXPECTED_WORD_MAX_CHARS} characters`;
  if (context !== undefined && (typeof context !== 'string' || context.length > CONTEXT_MAX_CHARS))
    return `context: expected a string of at most ${CONTEXT_MAX_CHARS} characters`;
  if (draftText !== undefined && (typeof draftText !== 'string' || draftText.length > DRAFT_TEXT_MAX_CHARS))
    return `draftText: expected a string of at most ${DRAFT_TEXT_MAX_CHARS} characters`;
  return stream === undefined || isWhole(stream, 0, Number.MAX_SAFE_INTEGER)
    ? null
    : `stream: got ${describe(stream)}, expected a whole number`;
}

function areWords(value: unknown, max: number, maxChars: number): boolean {
  return (
    Array.isArray(value) &&
    value.length <= max &&
    value.every((word) => typeof word === 'string' && word.length <= maxChars)
  );
}

function findTextProblem({ text, voice, speed, streamed }: Message, { voices }: ModelLimits): string | null {
  if (typeof streamed !== 'boolean') return `streamed: got ${describe(streamed)}, expected a boolean`;
  if (typeof text !== 'string') return `text: got ${describe(text)}, expected a string`;
  if (text.length > SPEAK_TEXT_MAX_CHARS)
    return `text: got ${text.length} characters, expected at most ${SPEAK_TEXT_MAX_CHARS}`;
  if (voices.length === 0) return 'kind: got "speak", and there is no synthesizer';
  if (!voices.some(({ name }) => name === voice)) {
    return `voice: got ${describe(voice)}, expected one of ${voices.map(({ name }) => name).join(', ')}`;
  }
  const isSpeed = typeof speed === 'number' && speed >= SPEED_MIN && speed <= SPEED_MAX;
  return isSpeed ? null : `speed: got ${describe(speed)}, expected a number from ${SPEED_MIN} to ${SPEED_MAX}`;
}

function findTracksProblem(tracks: unknown, limits: ModelLimits): string | null {
  if (limits.vadStateLength === null) return 'kind: got "detect", and there is no voice detector';
  if (!Array.isArray(tracks) || tracks.length > TRACKS_MAX) return `tracks: expected an array of at most ${TRACKS_MAX}`;
  for (const [index, track] of tracks.entries()) {
    const problem = isMessage(track) ? findTrackProblem(track, limits) : 'expected an object';
    if (problem !== null) return `tracks[${index}]: ${problem}`;
  }
  return null;
}

function findTrackProblem({ samples, state }: Message, limits: ModelLimits): string | null {
  if (!(samples instanceof Int16Array)) return `samples: got ${describe(samples)}, expected an Int16Array`;
  if (samples.length > JOB_MAX_SAMPLES)
    return `samples: got ${samples.length}, expected at most ${JOB_MAX_SAMPLES} (${JOB_MAX_S} s)`;
  if (samples.length % VAD_WINDOW_SAMPLES !== 0)
    return `samples: got ${samples.length}, expected a multiple of ${VAD_WINDOW_SAMPLES}`;
  if (state === null || (state instanceof Float32Array && state.length === limits.vadStateLength)) return null;
  return `state: got ${describe(state)}, expected null or a Float32Array of ${limits.vadStateLength}`;
}

function isWhole(value: unknown, minimum: number, maximum: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum;
}

/** A short name of what came; of arrays and objects only the kind, for they may hold speech. */
function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  if (value instanceof Float32Array) return `a Float32Array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return `an object (${value.constructor?.name ?? 'without a class'})`;
  return String(value);
}
