/** The events of a call without its words: what came when, in which order, and how it ended. */
import type { Hide } from './hide.ts';

/** Texts that are words of ours, of a protocol or of a program, never a person's. */
const KEPT_TEXTS = new Set([
  'type',
  'callId',
  'carrier',
  'startedAt',
  'at',
  'track',
  'tracks',
  'state',
  'kind',
  'verb',
  'flow',
  'step',
  'version',
  'source',
  'language',
  'refused',
  'tone',
  'message',
  'app',
]);
/** The same, in events of these types alone: in others people write them. */
const KEPT_IN: Readonly<Record<string, readonly string[]>> = {
  'call.ended': ['reason', 'sip.reason'],
  gap: ['reason'],
  language: ['by'],
  answered: ['by'],
  'call.transferred': ['by'],
  'flow.step': ['by'],
  'flow.input': ['outcome'],
  'flow.ended': ['outcome'],
};
const NUMBERS_KEPT = new Set(['utterance', 'version', 'confidence', 'status']);
const PARTIES = new Set(['from', 'to']);

/**
 * `event` of `GET /v1/calls/{id}/events`. Of a text that people may have said or written only its length is told, so
 * that an empty caption is told from a long one; of a number that was called only its form.
 */
export function withoutWords(event: Readonly<Record<string, unknown>>, hide: Hide): Record<string, unknown> {
  const kept = KEPT_IN[String(event['type'])] ?? [];
  const bare = (name: string, path: string, value: unknown): unknown => {
    if (value === null || (typeof value === 'boolean' && name !== 'value')) return value;
    if (typeof value === 'number') return /Ms$/.test(name) || NUMBERS_KEPT.has(name) ? value : '[hidden]';
    if (typeof value === 'string') {
      if (PARTIES.has(name)) return formOf(value);
      return KEPT_TEXTS.has(name) || kept.includes(path) ? hide(value) : `[${value.length} characters]`;
    }
    if (Array.isArray(value)) return value.map((each) => bare(name, path, each));
    return typeof value === 'object' ? members(value, `${path}.`) : '[hidden]';
  };
  const members = (object: object, prefix: string): Record<string, unknown> =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, bare(name, prefix + name, value)]));
  return members(event, '');
}

/** `+14155550123` → `+•••••••••••`: no digit and no letter. */
function formOf(party: string): string {
  return party.replace(/\d/g, '•').replace(/\p{L}/gu, 'x');
}
