/**
 * What Asterisk's REST interface says, as far as we need it: events of its WebSocket and channels in its answers
 * (rest-api/api-docs/events.json and channels.json), and what a dialplan writes into `Stasis(trunkline,…)`. Pure: text
 * in, events out.
 */
import { TrunklineError } from '../../foundation/errors.ts';
import type { CallStart } from '../dialect.ts';
import { identifierAt, isIdentifier, isObject, type Json, malformed, objectAt, parseMessage, textAt } from '../json.ts';

/** A channel: its unique id, and whom it is about. */
export interface AriChannel {
  readonly id: string;
  /** Down, Ring, Up … */
  readonly state: string;
  /** Caller's number and dialled extension; null = not told. */
  readonly from: string | null;
  readonly to: string | null;
  /** The caller's name; null = not told. */
  readonly callerName: string | null;
  /** The name of whom it is connected to; null = not told. */
  readonly connectedName: string | null;
}

export type AriEvent =
  /** A channel has come into our application, with what the dialplan wrote behind its name. */
  | { readonly type: 'entered'; readonly channel: AriChannel; readonly args: readonly string[] }
  /** A channel has left it: hung up, or gone on in the dialplan. */
  | { readonly type: 'left'; readonly channelId: string }
  /** A channel is no more. */
  | { readonly type: 'destroyed'; readonly channelId: string }
  /** A channel is connected to another one, or to none any more. */
  | { readonly type: 'bridged'; readonly channelId: string; readonly isBridged: boolean }
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
 * Asterisk sets BRIDGEPEER of a channel to the name of the channel that it is connected to, and to nothing when that
 * ends (main/bridge.c). Variables of Asterisk itself come without a channel.
 */
function readVariable(json: Json): AriEvent {
  if (json['variable'] !== 'BRIDGEPEER' || !isObject(json['channel'])) return { type: 'ignored' };
  return { type: 'bridged', channelId: channelIdIn(json), isBridged: (textAt(json, 'value') ?? '') !== '' };
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
    state: textAt(json, 'state') ?? '',
    from: isObject(caller) ? textAt(caller, 'number') : null,
    to: isObject(dialplan) ? textAt(dialplan, 'exten') : null,
    callerName: isObject(caller) ? textAt(caller, 'name') || null : null,
    connectedName: isObject(connected) ? textAt(connected, 'name') || null : null,
  };
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
