/**
 * The configuration of a Realtime session. Only what a client names is changed, and what we cannot do is left as it
 * was, without an error: many clients end at any error, and `session.updated` tells what holds.
 */
import { isObject, type Json } from '../../../protocols/json.ts';
import { DEFAULT_OUTPUT, type OutputConfig, readOutputConfig, writeToolChoice, writeTools } from './output-config.ts';
import { DEFAULT_FORMAT, oldNameOf, readSoundFormat, type SoundFormat, writeSoundFormat } from './sound-format.ts';
import {
  DEFAULT_WISH,
  readTranscriptionWish,
  type TranscriptionWish,
  writeTranscriptionWish,
} from './transcription-wish.ts';
import { DEFAULT_TURN_DETECTION, readTurnDetection, type TurnDetection, writeTurnDetection } from './turn-detection.ts';

/** Whether it only transcribes, or answers too. */
export type SessionType = 'transcription' | 'realtime';

/** What holds in a session. */
export interface SessionConfig {
  readonly type: SessionType;
  /** As the client named it; it has no effect but where a language model is asked. */
  readonly model: string;
  readonly inputFormat: SoundFormat;
  /** Null = the client wants no transcripts. */
  readonly transcription: TranscriptionWish | null;
  readonly turnDetection: TurnDetection;
  readonly output: OutputConfig;
}

/** What a new session has. `model`: of its address. */
export function newSessionConfig(type: SessionType, model: string): SessionConfig {
  return {
    type,
    model,
    inputFormat: DEFAULT_FORMAT,
    transcription: DEFAULT_WISH,
    turnDetection: DEFAULT_TURN_DETECTION,
    output: DEFAULT_OUTPUT,
  };
}

/** What holds after `session` of an update, in the form of today or of beta clients. */
export function updateSessionConfig(current: SessionConfig, session: Json): SessionConfig {
  const { type, model, audio } = session;
  const input = isObject(audio) && isObject(audio['input']) ? audio['input'] : {};
  const detection = firstGiven(input['turn_detection'], session['turn_detection']);
  const wish = firstGiven(input['transcription'], session['input_audio_transcription']);
  return {
    type: type === 'transcription' || type === 'realtime' ? type : current.type,
    model: typeof model === 'string' && model.length <= MODEL_MAX_CHARS ? model : current.model,
    inputFormat: readSoundFormat(input['format'] ?? session['input_audio_format']) ?? current.inputFormat,
    transcription: readTranscriptionWish(wish, current.transcription),
    turnDetection: readTurnDetection(detection, current.turnDetection),
    output: readOutputConfig(session, current.output),
  };
}

const MODEL_MAX_CHARS = 256;

/** Null is given: it turns something off. */
function firstGiven(...values: readonly unknown[]): unknown {
  return values.find((value) => value !== undefined);
}

/** What does not change in a session. */
export interface SessionIdentity {
  readonly id: string;
  /** Seconds since 1970. */
  readonly expiresAtS: number;
}

/** `session` of `session.created` and `session.updated`. */
export function writeSession(config: SessionConfig, { id, expiresAtS }: SessionIdentity): Json {
  const { type, model, output } = config;
  const input = {
    format: writeSoundFormat(config.inputFormat),
    transcription: writeTranscriptionWish(config.transcription),
    noise_reduction: null,
    turn_detection: writeTurnDetection(config.turnDetection, type === 'realtime'),
  };
  if (type === 'transcription') {
    const object = 'realtime.transcription_session';
    return { type, object, id, expires_at: expiresAtS, audio: { input }, include: [] };
  }
  return {
    type,
    object: 'realtime.session',
    id,
    expires_at: expiresAtS,
    model,
    output_modalities: [output.isSpoken ? 'audio' : 'text'],
    instructions: output.instructions,
    tools: writeTools(output.tools),
    tool_choice: writeToolChoice(output.toolChoice),
    max_output_tokens: output.maxOutputTokens ?? 'inf',
    tracing: null,
    truncation: 'auto',
    prompt: null,
    audio: {
      input,
      output: { format: writeSoundFormat(output.format), voice: output.voice, speed: output.speed },
    },
    include: [],
  };
}

/** The same in the flat form of beta clients. */
export function writeBetaSession(config: SessionConfig, { id, expiresAtS }: SessionIdentity): Json {
  const { type, model, output } = config;
  const input = {
    input_audio_format: oldNameOf(config.inputFormat),
    input_audio_transcription: writeTranscriptionWish(config.transcription),
    input_audio_noise_reduction: null,
    turn_detection: writeTurnDetection(config.turnDetection, type === 'realtime'),
  };
  if (type === 'transcription')
    return { id, object: 'realtime.transcription_session', expires_at: expiresAtS, ...input, include: [] };
  return {
    id,
    object: 'realtime.session',
    expires_at: expiresAtS,
    model,
    modalities: output.isSpoken ? ['audio', 'text'] : ['text'],
    instructions: output.instructions,
    voice: output.voice,
    ...input,
    output_audio_format: oldNameOf(output.format),
    tools: writeTools(output.tools),
    tool_choice: output.toolChoice,
    temperature: 0.8,
    max_response_output_tokens: output.maxOutputTokens ?? 'inf',
  };
}
