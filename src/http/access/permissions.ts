/** What each role may do, and which calls it sees. Nothing else in the server decides that. */
import type { CallNames } from '../../calls/call-names.ts';
import type { CallView } from '../../calls/call-view.ts';
import type { CallRingingEvent, CallStartedEvent, FeedEvent } from '../../calls/feed/events.ts';
import type { FeedEntry } from '../../calls/feed/feed.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Role } from '../../foundation/roles.ts';
import type { Principal } from './principal.ts';

const EVERYBODY: readonly Role[] = ['admin', 'supervisor', 'agent', 'app'];
const ALL_CALLS: readonly Role[] = ['admin', 'supervisor', 'app'];

/**
 * The roles that may do something. Each route names its permission (`config.permission`). An agent's permissions hold
 * for the agent's own calls; see {@link sees}.
 */
export const PERMISSIONS = Object.freeze({
  /** Ask who one is. */
  session: EVERYBODY,
  /** The API's description. */
  docs: EVERYBODY,
  /** Lists, details, events and transcripts of calls, and the feed. */
  'calls.read': EVERYBODY,
  /** The recorded sound of calls. */
  'calls.listen': EVERYBODY,
  /** Say something, press keys, hang up, take over from the app, pause the recording. */
  'calls.act': EVERYBODY,
  /** Notes, marks, outcome, tags. */
  'calls.note': EVERYBODY,
  /** Make calls, also from the browser and with Asterisk. */
  'calls.make': ALL_CALLS,
  'calls.export': ALL_CALLS,
  'calls.delete': ['admin', 'app'],
  /** How the server is: engines, queue, ways in, disk. */
  system: ALL_CALLS,
  /** The values of the settings, secrets hidden. */
  settings: ['admin'],
  metrics: ALL_CALLS,
  /** Text of recordings and of live sound. */
  transcriptions: ALL_CALLS,
  /** Ask for keys that live for a short time: not with one of them, or it would live for ever. */
  'keys.make': ALL_CALLS,
  /** Sound of texts. */
  speech: ALL_CALLS,
  /** Lists of models and voices. */
  models: EVERYBODY,
  batches: ALL_CALLS,
  /** See and listen to recorded prompts and cached sentences. */
  'prompts.read': ALL_CALLS,
  /** Record prompts, and forget them and cached sentences. */
  prompts: ['admin', 'app'],
  /** See flows and their steps, how calls went through them, and what callers said that fit nothing. */
  'flows.read': ALL_CALLS,
  audit: ['admin'],
  /** Users, and everything else under /v1/admin. */
  administration: ['admin'],
} satisfies Record<string, readonly Role[]>);

export type Permission = keyof typeof PERMISSIONS;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a principal must be permitted to use this route. Guarded routes without one are for admins. */
    readonly permission?: Permission;
  }
}

/** Whether `role` has `permission`. */
export function isPermitted(role: Role, permission: Permission): boolean {
  return (PERMISSIONS[permission] as readonly Role[]).includes(role);
}

/**
 * Refuses who has not `permission`; the message names the roles that have it.
 * @throws TrunklineError `role_refused`
 */
export function assertPermitted({ role }: Principal, permission: Permission): void {
  if (isPermitted(role, permission)) return;
  throw new TrunklineError(
    'role_refused',
    `the role ${role} may not do this; it needs ${PERMISSIONS[permission].join(' or ')}`,
  );
}

/** All that `role` may do, in the order of {@link PERMISSIONS}. */
export function permissionsOf(role: Role): Permission[] {
  return (Object.keys(PERMISSIONS) as Permission[]).filter((permission) => isPermitted(role, permission));
}

/**
 * Whether `principal` sees a call with this parameter `agent`: agents see their own calls alone, and an agent without
 * a name has none.
 */
export function sees(principal: Principal, { agent }: { readonly agent?: string | null }): boolean {
  if (principal.role !== 'agent') return true;
  return principal.agent !== null && principal.agent !== '' && agent === principal.agent;
}

/**
 * The call as `principal` may see it: for agents, numbers are masked (see {@link maskNumber}), also where a carrier
 * tells one as a name.
 */
export function viewFor<T extends Pick<CallView, 'from' | 'to' | 'names'>>(principal: Principal, view: T): T {
  if (principal.role !== 'agent') return view;
  return { ...view, from: maskNumber(view.from), to: maskNumber(view.to), names: namesFor(principal, view.names) };
}

/** The names of a call as `principal` may see them: for agents, those that are numbers are masked. */
export function namesFor(principal: Principal, names: CallNames): CallNames {
  if (principal.role !== 'agent') return names;
  return { inbound: maskName(names.inbound), outbound: maskName(names.outbound) };
}

/** Names with fewer digits have no number: "Desk 12". */
const NUMBER_MIN_DIGITS = 4;

function maskName(name: string | null): string | null {
  const digits = name?.replace(/\D/g, '').length ?? 0;
  return digits < NUMBER_MIN_DIGITS ? name : maskNumber(name);
}

/** Digits of a number that agents see. */
const DIGITS_SHOWN = 3;

/**
 * `+14155550123` → `+••••••••123`: the last three digits stay, and everything that is no digit. Of an address, the part
 * before its `@` is the number.
 */
export function maskNumber(party: string | null): string | null {
  if (party === null) return null;
  const end = party.indexOf('@') < 0 ? party.length : party.indexOf('@');
  const number = party.slice(0, end);
  let hidden = number.replace(/\D/g, '').length - DIGITS_SHOWN;
  return number.replace(/\d/g, (digit) => (hidden-- > 0 ? '•' : digit)) + party.slice(end);
}

/** The JSON of entries whose numbers were masked, made once for all agents. */
const maskedJson = new WeakMap<FeedEntry, string>();

/** Calls that were stored by earlier versions ring without their parties. */
function hasParties(event: FeedEvent): event is CallStartedEvent | CallRingingEvent {
  return event.type === 'call.started' || (event.type === 'call.state' && event.state === 'ringing' && 'from' in event);
}

function maskedEvent(principal: Principal, event: FeedEvent): FeedEvent {
  if (event.type === 'call.transferred')
    return { ...event, from: maskNumber(event.from ?? null), to: maskNumber(event.to) };
  if (event.type === 'call.assigned') return { ...event, names: namesFor(principal, event.names) };
  return hasParties(event) ? viewFor(principal, event) : event;
}

/** The feed's entry as `principal` may see it. Whether they see its call is another question. */
export function entryFor(principal: Principal, entry: FeedEntry): FeedEntry {
  if (principal.role !== 'agent') return entry;
  const { event: told } = entry;
  const event = maskedEvent(principal, told);
  if (event === told) return entry;
  const json = maskedJson.get(entry) ?? JSON.stringify(event);
  maskedJson.set(entry, json);
  return { id: entry.id, event, json };
}
