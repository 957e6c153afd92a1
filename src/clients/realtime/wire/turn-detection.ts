/** How a Realtime session finds the end of what is said: https://platform.openai.com/docs/guides/realtime-vad */
import { isObject, type Json } from '../../../protocols/json.ts';

/** Whether the end of what is said makes an answer, and its beginning ends one. */
interface Answering {
  readonly createResponse: boolean;
  readonly interruptResponse: boolean;
}

/** By silence. Times are ms, `threshold` is a probability. */
export interface ServerVad extends Answering {
  readonly type: 'server_vad';
  readonly threshold: number;
  readonly prefixPaddingMs: number;
  readonly silenceMs: number;
}

/** By silence that is longer the less eager it is. */
export interface SemanticVad extends Answering {
  readonly type: 'semantic_vad';
  readonly eagerness: 'low' | 'medium' | 'high' | 'auto';
}

/** Null = only the client says where what is said ends. */
export type TurnDetection = ServerVad | SemanticVad | null;

/** Of a new session. */
export const DEFAULT_TURN_DETECTION: ServerVad = Object.freeze({
  type: 'server_vad',
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceMs: 500,
  createResponse: true,
  interruptResponse: true,
});

/** Silence that ends what is said, in ms. */
const SILENCE_OF_EAGERNESS_MS = { high: 300, auto: 500, medium: 500, low: 900 } as const;

const SILENCE_MAX_MS = 10_000;
const PREFIX_MAX_MS = 5000;
const THRESHOLD_MIN = 0.05;
const THRESHOLD_MAX = 0.95;

/**
 * What `value` asks for. Fields that are missing or that make no sense stay as in `current`, or as in a new session if
 * that had another type.
 */
export function readTurnDetection(value: unknown, current: TurnDetection): TurnDetection {
  if (value === null) return null;
  if (!isObject(value)) return current;
  const { type = current?.type ?? 'server_vad' } = value;
  if (type === 'semantic_vad') return readSemantic(value, current);
  return type === 'server_vad' ? readServer(value, current) : current;
}

function readSemantic(value: Json, current: TurnDetection): SemanticVad {
  const { eagerness } = value;
  const known = typeof eagerness === 'string' && Object.hasOwn(SILENCE_OF_EAGERNESS_MS, eagerness);
  const before = current?.type === 'semantic_vad' ? current.eagerness : 'auto';
  return {
    type: 'semantic_vad',
    eagerness: known ? (eagerness as SemanticVad['eagerness']) : before,
    ...readAnswering(value, current),
  };
}

function readServer(value: Json, current: TurnDetection): ServerVad {
  const before = current?.type === 'server_vad' ? current : DEFAULT_TURN_DETECTION;
  return {
    type: 'server_vad',
    threshold: numberIn(value['threshold'], THRESHOLD_MIN, THRESHOLD_MAX) ?? before.threshold,
    prefixPaddingMs: numberIn(value['prefix_padding_ms'], 0, PREFIX_MAX_MS) ?? before.prefixPaddingMs,
    silenceMs: numberIn(value['silence_duration_ms'], 0, SILENCE_MAX_MS) ?? before.silenceMs,
    ...readAnswering(value, current),
  };
}

function readAnswering(value: Json, current: TurnDetection): Answering {
  const { create_response: create, interrupt_response: interrupt } = value;
  const before = current ?? DEFAULT_TURN_DETECTION;
  return {
    createResponse: typeof create === 'boolean' ? create : before.createResponse,
    interruptResponse: typeof interrupt === 'boolean' ? interrupt : before.interruptResponse,
  };
}

function numberIn(value: unknown, min: number, max: number): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(Math.max(value, min), max) : null;
}

/** As a session tells it. A transcription session answers nobody. */
export function writeTurnDetection(detection: TurnDetection, canAnswer: boolean): Json | null {
  if (detection === null) return null;
  const { type, createResponse, interruptResponse } = detection;
  const answering = canAnswer ? { create_response: createResponse, interrupt_response: interruptResponse } : {};
  if (type === 'semantic_vad') return { type, eagerness: detection.eagerness, ...answering };
  const { threshold, prefixPaddingMs, silenceMs } = detection;
  return { type, threshold, prefix_padding_ms: prefixPaddingMs, silence_duration_ms: silenceMs, ...answering };
}

/** Silence that ends what is said, in ms; null = none does. */
export function endpointMsOf(detection: TurnDetection): number | null {
  if (detection === null) return null;
  return detection.type === 'server_vad' ? detection.silenceMs : SILENCE_OF_EAGERNESS_MS[detection.eagerness];
}

/** How far before the speech a client is told that it began, in ms. */
export function prefixMsOf(detection: TurnDetection): number {
  return detection?.type === 'server_vad' ? detection.prefixPaddingMs : DEFAULT_TURN_DETECTION.prefixPaddingMs;
}
