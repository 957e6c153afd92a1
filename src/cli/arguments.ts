/**
 * Reads the values of options. Each throws commander's InvalidArgumentError, which says what was expected and ends with
 * exit code 2.
 */
import { InvalidArgumentError } from 'commander';
import { findHotWordProblem, splitHotWords } from '../foundation/hot-words.ts';

/** A whole number of ms from 0 on. */
export function parseMs(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of milliseconds, 0 or more.');
  return Number(text);
}

/** A whole number from 0 on. */
export function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Expected a whole number, 0 or more.');
  return Number(text);
}

/** A whole number from 1 on. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number, 1 or more.');
  return Number(text);
}

/** A number from 0 to 1. */
export function parseShare(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= 1))
    throw new InvalidArgumentError('Expected a number from 0 to 1, such as 0.02 for two in a hundred.');
  return value;
}

/** Names and phrases with commas between them, as many as a recogniser takes. */
export function parseHotWords(text: string): string[] {
  const words = splitHotWords(text);
  const problem = findHotWordProblem(words);
  if (problem !== null) throw new InvalidArgumentError(`${problem}.`);
  return words;
}

/** Where media goes, by the kinds of URL that carriers have for it: `ws:`, `wss:`, `tcp:`, `sip:`. */
export function parseMediaUrl(text: string): string {
  return parseUrl(text, ['ws:', 'wss:', 'tcp:', 'sip:', 'sips:'], 'ws://127.0.0.1:8080/twilio/media');
}

/** `http:` or `https:`. */
export function parseWebUrl(text: string): string {
  return parseUrl(text, ['http:', 'https:'], 'http://127.0.0.1:8080/twilio/voice');
}

function parseUrl(text: string, protocols: readonly string[], example: string): string {
  if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
  throw new InvalidArgumentError(`Expected a url such as ${example}.`);
}

const AGE_UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A time as ISO 8601: an age such as `30m`, `24h` or `7d` before `now`, a date (its midnight here), or a date with a
 * time, here unless it names its offset.
 */
export function parseMoment(text: string, now: Date): string {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const moment =
    count === undefined
      ? new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : /^\d{4}-\d\d-\d\dT/.test(text) ? text : '')
      : new Date(now.getTime() - Number(count) * (AGE_UNITS_MS[unit ?? ''] ?? Number.NaN));
  if (Number.isNaN(moment.getTime()))
    throw new InvalidArgumentError('Expected an age such as 30m, 24h or 7d, or a time such as 2026-11-22T09:30.');
  return moment.toISOString();
}

/** A key of the telephone and when it is pressed. */
export interface KeyPress {
  readonly digit: string;
  readonly atMs: number;
}

/** `5@1200,#@3000`: keys and the ms of the call at which they are pressed. */
export function parseKeyPresses(text: string): KeyPress[] {
  return text.split(',').map((part) => {
    const [, digit, atMs] = /^([0-9A-D*#])@(\d{1,9})$/.exec(part.trim()) ?? [];
    if (digit === undefined || atMs === undefined)
      throw new InvalidArgumentError('Expected keys with their time in ms, such as 5@1200,#@3000.');
    return { digit, atMs: Number(atMs) };
  });
}

/** One more `name=value`, added to those before. */
export function addParameter(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected name=value.');
  return { ...before, [name]: value };
}
