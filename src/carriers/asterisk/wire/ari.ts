/**
 * What Asterisk's REST interface says, as far as we need it: events of its WebSocket and channels in its answers
 * (rest-api/api-docs/events.json and channels.json), and what a dialplan writes into `Stasis(trunkline,…)`. Pure: text
 * in, events out.
 */
import { TrunklineError } from '../../../foundation/errors.ts';
import type { CallStart } from '../../../protocols/dialect.ts';
import {
  identifierAt,
  isIdentifier,
  isObject,
  type Json,
  malformed,
  objectAt,
  parseMessage,
  textAt,
} from '../../../protocols/json.ts';

/** A channel: its unique id, and whom it is about. */
export interface AriChannel {
  readonly id: string;
  /** `PJSIP/6001-00000001`; empty = not told. */
  readonly name: string;
  /** Down, Ring, Up … */
  readonly state: string;
  /** Caller's number and dialled extension; null = not told. */
  readonly from: string | null;
  readonly to: string | null;
  /** The caller's name; null = not told. */
  readonly callerName: string | null;
  /** Number and name of whom it is connected to; null = not told. */
  readonly connectedNumber: string | null;
  readonly connectedName: string | null;
  /** What the dialplan does with it: `Queue` and `support,t`; null = nothing. */
  readonly application: { readonly name: string; readonly data: string } | null;
}

/** What may say who is connected to a channel. */
export type PartyEvent = { readonly channel: AriChannel } & (
  | {
      /** It is connected to the channels of these names, or to none any more. */
      readonly type: 'bridged';
      readonly peers: readonly string[];
    }
  /** The caller ID of the other side has changed; the dialplan has begun an application. */
  | { readonly type: 'connected' | 'application' }
  /** It was sent on in the dialplan by the channel of this name. */
  | { readonly type: 'sent-on'; readonly by: string }
  /** The dialplan says whose call it is; null = it says no more. */
  | { readonly type: 'named'; readonly name: 'agent' | 'queue' | 'name'; readonly value: string | null }
);

export type AriEvent =
  /** A channel has come into our application, with what the dialplan wrote behind its name. */
  | { readonly type: 'entered'; readonly channel: AriChannel; readonly args: readonly string[] }
  /** A channel has left it: hung up, or gone on in the dialplan. */
  | { readonly type: 'left'; readonly channelId: string }
  /** A channel is no more. */
  | { readonly type: 'destroyed'; readonly channelId: string }
  | PartyEvent
  /** Whoever is on a channel has put the other side on hold, or has taken it back. */
  | { readonly type: 'held'; readonly channelId: string; readonly isHeld: boolean }
  /** Somebody else has taken over our application's name. */
  | { readonly type: 'replaced' }
  | { readonly type: 'ignored' };

/** How a call that enters our application is to be held. */
export type AriMode = 'talk' | 'captions' | 'assist';

/** `Stasis(trunkline,assist,from=100)`: the mode and what follows it. */
export interface StasisRequest {
  readonly mode: AriMode;
  readonly parameters: CallStart['parameters'];
}

/** Inherited ones come under their inherited name. */
const PARTY_VARIABLES: ReadonlyMap<string, 'agent' | 'queue' | 'name'> = new Map(
  ['', '_', '__'].flatMap((prefix) => [
    [`${prefix}TRUNKLINE_AGENT`, 'agent' as const],
    [`${prefix}TRUNKLINE_QUEUE`, 'queue' as const],
    [`${prefix}TRUNKLINE_AGENT_NAME`, 'name' as const],
  ]),
);
/** Longer names of agents are cut, as those of parameters. */
const NAME_MAX_CHARS = 128;
const MODES: readonly string[] = ['talk', 'captions', 'assist'];
const ARGUMENTS_MAX = 32;
const ARGUMENT = /^\s*([A-Za-z][A-Za-z0-9_]{0,63})=(.*)$/s;

/**
 * One message of the events' WebSocket.
 * @throws TrunklineError `message_malformed`
 */
export function readAriEvent(text: string): AriEvent {
  const json = parseMessage(text);
  switch (json['type']) {
    case 'StasisStart':
      return { type: 'entered', channel: readAriChannel(objectAt(json, 'channel')), args: readArguments(json['args']) };
    case 'StasisEnd':
      return { type: 'left', channelId: channelIdIn(json) };
    case 'ChannelDestroyed':
      return { type: 'destroyed', channelId: channelIdIn(json) };
    case 'ChannelVarset':
      return readVariable(json);
    case 'ChannelConnectedLine':
      return { type: 'connected', channel: readAriChannel(objectAt(json, 'channel')) };
    case 'ChannelDialplan':
      return { type: 'application', channel: readAriChannel(objectAt(json, 'channel')) };
    case 'ChannelHold':
    case 'ChannelUnhold':
      return { type: 'held', channelId: channelIdIn(json), isHeld: json['type'] === 'ChannelHold' };
    case 'ApplicationReplaced':
      return { type: 'replaced' };
    default:
      return { type: 'ignored' };
  }
}

/**
 * Asterisk sets BRIDGEPEER of a channel to the names of the channels that it is connected to, and to nothing when that
 * ends (main/bridge.c), and BLINDTRANSFER to the channel that sends it on. Variables of Asterisk itself come without a
 * channel.
 */
function readVariable(json: Json): AriEvent {
  const variable = textAt(json, 'variable') ?? '';
  if (!isObject(json['channel'])) return { type: 'ignored' };
  const channel = readAriChannel(json['channel']);
  const value = (textAt(json, 'value') ?? '').trim();
  const name = PARTY_VARIABLES.get(variable);
  if (variable === 'BRIDGEPEER') return { type: 'bridged', channel, peers: readPeers(value) };
  if (variable === 'BLINDTRANSFER' && value !== '') return { type: 'sent-on', channel, by: value };
  if (name !== undefined) return { type: 'named', channel, name, value: value.slice(0, NAME_MAX_CHARS) || null };
  return { type: 'ignored' };
}

/** The names in BRIDGEPEER. */
export function readPeers(value: string): string[] {
  return value.split(',').filter((name) => name !== '');
}

function channelIdIn(json: Json): string {
  return identifierAt(objectAt(json, 'channel'), 'id', 'channel.id');
}

/**
 * A channel as an event or an answer has it.
 * @throws TrunklineError `message_malformed`
 */
export function readAriChannel(json: Json): AriChannel {
  const { caller, connected, dialplan } = json;
  return {
    id: identifierAt(json, 'id', 'channel.id'),
    name: textAt(json, 'name') ?? '',
    state: textAt(json, 'state') ?? '',
    from: isObject(caller) ? textAt(caller, 'number') : null,
    to: isObject(dialplan) ? textAt(dialplan, 'exten') : null,
    callerName: isObject(caller) ? textAt(caller, 'name') || null : null,
    connectedNumber: isObject(connected) ? textAt(connected, 'number') || null : null,
    connectedName: isObject(connected) ? textAt(connected, 'name') || null : null,
    application: isObject(dialplan) ? readApplication(dialplan) : null,
  };
}

function readApplication(dialplan: Json): AriChannel['application'] {
  const name = textAt(dialplan, 'app_name') ?? '';
  return name === '' ? null : { name, data: textAt(dialplan, 'app_data') ?? '' };
}

/** The `id` of each object in a list, as channels and bridges are listed; what has none is passed over. */
export function readIds(json: unknown): string[] {
  if (!Array.isArray(json)) return [];
  return json.flatMap((item: unknown) => (isObject(item) && isIdentifier(item['id']) ? [item['id']] : []));
}

/**
 * What the dialplan asks for: the mode (talk where there is none), and parameters as `name=value`.
 * @throws TrunklineError `invalid_request`
 */
export function readStasisRequest(args: readonly string[]): StasisRequest {
  const [first = '', ...rest] = args;
  const mode = first.trim();
  const isMode = MODES.includes(mode);
  if (!isMode && mode !== '' && !ARGUMENT.test(first)) {
    throw new TrunklineError(
      'invalid_request',
      `got a mode of ${mode.length} characters, expected talk, captions or assist`,
    );
  }
  const parameters: Record<string, string> = Object.create(null);
  for (const argument of isMode || mode === '' ? rest : args) {
    const [, name, value = ''] = ARGUMENT.exec(argument) ?? [];
    if (name === undefined)
      throw new TrunklineError('invalid_request', 'got a Stasis argument without a name, expected name=value');
    parameters[name] = value;
  }
  return { mode: isMode ? (mode as AriMode) : 'talk', parameters };
}

function readArguments(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > ARGUMENTS_MAX)
    throw malformed('args', value, `a list of at most ${ARGUMENTS_MAX}`);
  return value.map((argument: unknown) => {
    if (typeof argument !== 'string') throw malformed('args', argument, 'strings');
    return argument;
  });
}
