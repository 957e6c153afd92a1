/** `trunkline calls`: the calls that go on, or those of a search. */
import { z } from 'zod';
import { listedCall } from '../../http/calls/call-schemas.ts';
import { shortTime } from '../caption-display.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { printable } from '../printable.ts';
import type { ServerClient } from '../server-client.ts';
import type { Output } from '../terminal.ts';
import type { RemoteContext } from './context.ts';
import { type FilterFlags, queryOf } from './filters.ts';

/** The most entries of a page. */
const PAGE_MAX = 1000;

const page = z.object({ data: z.array(listedCall), next: z.string().nullable() });

type ListedCall = z.infer<typeof listedCall>;

/** What is listed; `limit` = at most so many. */
export interface ListFlags extends FilterFlags {
  readonly live?: boolean;
  readonly limit: number;
}

/** Lists the calls that are live or being made where there are no words and no filter; otherwise all that match. */
export async function listCalls(words: readonly string[], flags: ListFlags, context: RemoteContext): Promise<number> {
  const { server, json, terminal } = context;
  const { out, err } = terminal;
  const query = queryOf(words, flags);
  const isLive = flags.live === true || query.size === 0;
  const { calls, isCut } = isLive
    ? await liveCalls(server, query, flags.limit)
    : await readCalls(server, query, flags.limit);
  if (json) {
    out.line(JSON.stringify(calls, null, 2));
    return EXIT_OK;
  }
  for (const call of calls) showCall(call, out);
  if (calls.length === 0) err.line(isLive ? 'No call is live.' : 'No call matches.');
  if (isCut) err.line(`There are more: --limit, now ${flags.limit}, shows them.`);
  return EXIT_OK;
}

/** The calls that are being made and those that are live, within `query`. */
export async function liveCalls(server: ServerClient, query: URLSearchParams, limit: number): Promise<ReadCalls> {
  const calls: ListedCall[] = [];
  let isCut = false;
  for (const state of ['dialing', 'live'] as const) {
    query.set('state', state);
    const read = await readCalls(server, query, limit - calls.length);
    calls.push(...read.calls);
    isCut ||= read.isCut;
  }
  return { calls, isCut };
}

interface ReadCalls {
  readonly calls: readonly ListedCall[];
  /** There are more. */
  readonly isCut: boolean;
}

async function readCalls(server: ServerClient, query: URLSearchParams, limit: number): Promise<ReadCalls> {
  const calls: ListedCall[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    if (calls.length >= limit) return { calls, isCut: true };
    const asked = new URLSearchParams(query);
    asked.set('limit', String(Math.min(limit - calls.length, PAGE_MAX)));
    if (cursor !== '') asked.set('cursor', cursor);
    const { data, next }: z.infer<typeof page> = await server.ask('GET', `/v1/calls?${asked}`, page);
    calls.push(...data);
    cursor = next;
  }
  return { calls, isCut: false };
}

function showCall(call: ListedCall, out: Output): void {
  for (const line of callLines(call, out.columns)) out.line(line);
  for (const { track, startMs, parts } of call.found ?? []) {
    const speaker = printable(call.names[track] ?? track);
    const text = parts.map((part) => (part.marked ? out.bold(printable(part.text)) : printable(part.text))).join('');
    out.line(`    ${shortTime(startMs).padStart(6)}  ${speaker}: ${text}`);
  }
}

/** One call: when, id, state, sides, and what else is known; on two lines where one would be longer than `columns`. */
function callLines(call: ListedCall, columns: number): string[] {
  const { id, startedAt, durationMs, endReason, phase, queue, agent, outcome, tags, counts } = call;
  const facts = [queue, agent && `agent ${agent}`, outcome, ...tags.map((tag) => `#${tag}`)];
  if (counts.gaps > 0) facts.push(counts.gaps === 1 ? '1 gap' : `${counts.gaps} gaps`);
  const state = `${endReason ?? phase ?? call.state} ${shortTime(durationMs)}`;
  const head = printable([localTime(startedAt), id, state.padEnd(12)].join('  '));
  const about = printable([sidesOf(call), ...facts.filter((fact) => fact !== null)].join('  '));
  const line = `${head}  ${about}`;
  return line.length <= columns ? [line] : [head.trimEnd(), `    ${about}`];
}

/** Who talks with whom. */
export function sidesOf({ names, from, to }: Pick<ListedCall, 'names' | 'from' | 'to'>): string {
  const side = (name: string | null, number: string | null): string =>
    name !== null && number !== null ? `${name} (${number})` : (name ?? number ?? '?');
  return `${side(names.inbound, from)} → ${side(names.outbound, to)}`;
}

/** `2026-11-22 09:30` in the time zone of this machine. */
function localTime(iso: string): string {
  const at = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
