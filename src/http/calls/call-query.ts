/** The filters of lists, searches and exports of calls. */
import { z } from 'zod';
import { TrunklineError } from '../../foundation/errors.ts';
import { type CallFilter, readParty } from '../../records/search/call-filter.ts';
import type { CallPosition } from '../../records/search/call-lists.ts';
import { QUERY_MAX_CHARS } from '../../records/search/search-query.ts';
import type { Principal } from '../access/principal.ts';
import { describe } from '../server/echo.ts';
import { pageQuery } from '../server/pages.ts';

const VALUE_MAX_CHARS = 300;
/** More than any call lasts: a year. */
const MAX_DURATION_MS = 31_536_000_000;
const value = z.string().min(1).max(VALUE_MAX_CHARS).optional();
const duration = z.coerce.number().int().min(0).max(MAX_DURATION_MS).optional();
const time = z.iso.datetime({ offset: true }).optional();

/** What a call must be like. */
const filterFields = {
  q: z
    .string()
    .max(QUERY_MAX_CHARS)
    .optional()
    .describe('What was said in it: words, "a phrase", begin*, one OR other, -not; all of it in one utterance'),
  since: time.describe('It began then or later (ISO 8601)'),
  until: time.describe('It began before'),
  carrier: value,
  party: value.describe('Caller or callee: all of it, its beginning (`+1415*`) or its end (`*0100`)'),
  name: value.describe('Part of the name of one side'),
  agent: value,
  queue: value,
  app: value.describe('The address of its app, without the query'),
  flow: value.describe('The name of the flow that it began with'),
  step: z
    .string()
    .regex(/^[^/]{1,64}\/[^/]{1,64}$/, 'expected a flow and one of its steps such as shop/mainMenu')
    .transform((typed) => {
      const [flow = '', step = ''] = typed.split('/');
      return { flow, step };
    })
    .optional()
    .describe('It reached this step of this flow: `shop/mainMenu`'),
  minDurationMs: duration.describe('It lasted at least so long, in ms'),
  maxDurationMs: duration.describe('It lasted at most so long, in ms'),
  outcome: value,
  endReason: value,
  hasGap: z
    .enum(['true', 'false'])
    .transform((typed) => typed === 'true')
    .optional()
    .describe('Whether a stretch of it has no caption'),
  tag: value,
  state: z.enum(['dialing', 'live', 'ended']).optional(),
};

/** The query of `GET /v1/calls`. */
export const callListQuery = pageQuery.extend(filterFields);
/** The query of an export, but for its format. */
export const callFilterQuery = z.strictObject(filterFields);

/**
 * The filter that a query asks for, within what `principal` may see.
 * @throws TrunklineError `invalid_request` where an agent asks for part of a number, and so might find out the rest
 */
export function filterOf(query: z.infer<typeof callFilterQuery>, principal: Principal): CallFilter {
  const { since, until, party: typed, q: _q, ...rest } = query;
  const party = typed === undefined ? undefined : readParty(typed);
  if (principal.role === 'agent' && party !== undefined && party.where !== 'whole')
    throw new TrunklineError('invalid_request', 'query.party: agents can search for whole numbers only', 'party');
  // A carrier may tell a number as a name, and an agent sees it masked.
  if (principal.role === 'agent' && /\d/.test(query.name ?? ''))
    throw new TrunklineError('invalid_request', 'query.name: agents cannot search for digits in names', 'name');
  return {
    ...rest,
    party,
    sinceMs: since === undefined ? undefined : Date.parse(since),
    untilMs: until === undefined ? undefined : Date.parse(until),
    // An agent without a name has no calls, and no call has an empty name.
    onlyAgent: principal.role === 'agent' ? (principal.agent ?? '') : undefined,
  };
}

const position = z.tuple([z.enum(['dialing', 'live', 'ended']), z.int(), z.string()]);
const searchPosition = z.tuple([z.literal('search'), z.int().min(0)]);

/** The cursor behind a call of a list. */
export function listCursor({ state, startedMs, id }: CallPosition): string {
  return encode([state, startedMs, id]);
}

/** The cursor of a search that goes on with calls below that number. */
export function searchCursor(belowSeq: number): string {
  return encode(['search', belowSeq]);
}

/** Null = from the first call on. @throws TrunklineError `invalid_request` */
export function readListCursor(cursor: string | undefined): CallPosition | null {
  if (cursor === undefined || cursor === '') return null;
  const [state, startedMs, id] = decode(cursor, position);
  return { state, startedMs, id };
}

/** Null = from the newest call on. @throws TrunklineError `invalid_request` */
export function readSearchCursor(cursor: string | undefined): number | null {
  return cursor === undefined || cursor === '' ? null : decode(cursor, searchPosition)[1];
}

function encode(last: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(last)).toString('base64url');
}

function decode<T>(cursor: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw new TrunklineError(
      'invalid_request',
      `query.cursor: got ${describe(cursor)}, expected the \`next\` of an earlier answer`,
      'cursor',
    );
  }
}
