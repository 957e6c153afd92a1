/** The parameters of a call that mean something to the record, whoever gives them: a dialplan, TwiML, an API. */
import { splitHotWords } from '../foundation/hot-words.ts';
import type { CallStart } from '../protocols/dialect.ts';
import type { CallNames } from './call-names.ts';

/** Longer names are cut. */
const NAME_MAX_CHARS = 128;
/** A hundred years: longer is for ever. */
const RETAIN_MAX_DAYS = 36_500;
const RETAIN_DAYS = /^\d{1,5}$/;
/** Longer ones are no language. */
const LANGUAGE_MAX_CHARS = 40;
const RECORD_MODES = ['off', 'caller', 'both'] as const;

/** What of a call's sound is recorded. */
export type RecordMode = (typeof RECORD_MODES)[number];

/** What a call's parameters say. */
export interface CallParameters {
  readonly names: CallNames;
  /** Whose call it is, exactly as it was given; null = nobody's. */
  readonly agent: string | null;
  readonly queue: string | null;
  /** Days for which the call is kept; null = as the gateway is set. */
  readonly retainDays: number | null;
  /** Null = as the gateway is set. */
  readonly record: RecordMode | null;
  /** What is spoken, as it was given; null = nobody says. */
  readonly language: string | null;
  /** Names and phrases that are likely to be said. */
  readonly hotWords: readonly string[];
  /** Whether hints are shown beside it, where there are any. */
  readonly hints: boolean;
}

/**
 * Reads `callerName`, `agentName`, `agent`, `queue`, `retain`, `record`, `hints`, `language` (before it goes
 * `transcriptionLanguage`, as in TwiML) and `hotWords`, whatever the case of their names; what cannot be understood is
 * as if it was not there. A caller whom the parameters do not name has the name that the carrier told. An `agent` that
 * is too long is left out, not cut: it decides who may see the call.
 */
export function readCallParameters({ parameters, details = {} }: Pick<CallStart, 'parameters' | 'details'>) {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(parameters)) {
    const lower = name.toLowerCase();
    if (!given.has(lower)) given.set(lower, value);
  }
  return {
    names: {
      inbound: readName(given.get('callername')) ?? readName(details.callerName),
      outbound: readName(given.get('agentname')),
    },
    agent: readAgent(given.get('agent')),
    queue: readName(given.get('queue')),
    retainDays: readDays(given.get('retain')),
    language: readLanguage(given.get('transcriptionlanguage') ?? given.get('language')),
    hotWords: splitHotWords(given.get('hotwords') ?? ''),
    hints: given.get('hints')?.trim().toLowerCase() !== 'off',
    record: RECORD_MODES.find((mode) => mode === given.get('record')?.trim().toLowerCase()) ?? null,
  } satisfies CallParameters as CallParameters;
}

/** Whose call it is; null where nobody or nothing that could be meant is named. */
export function readAgent(value = ''): string | null {
  const agent = value.trim();
  return agent === '' || agent.length > NAME_MAX_CHARS ? null : agent;
}

/** On one line: names stand before what is said. Null = none. */
export function readName(value = ''): string | null {
  const name = value.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return name.slice(0, NAME_MAX_CHARS).trimEnd() || null;
}

function readLanguage(value = ''): string | null {
  const language = readName(value);
  return language !== null && language.length <= LANGUAGE_MAX_CHARS ? language : null;
}

function readDays(value = ''): number | null {
  const digits = value.trim();
  return RETAIN_DAYS.test(digits) && Number(digits) <= RETAIN_MAX_DAYS ? Number(digits) : null;
}
