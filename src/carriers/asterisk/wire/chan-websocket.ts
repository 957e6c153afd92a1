/**
 * Asterisk's chan_websocket (https://docs.asterisk.org/Configuration/Channel-Drivers/WebSocket/, and where it differs
 * channels/chan_websocket.c and what a 22.10 says on the wire): Asterisk dials us, media are binary messages without a
 * header, control is text. Nothing has a timestamp or a number, and while the caller sends nothing, nothing comes.
 * Sound may come before the start (https://github.com/asterisk/asterisk/issues/1712).
 * Speaks to every release since 20.16, 21.11, 22.6 and 23.0.
 */
import { TrunklineError } from '../../../foundation/errors.ts';
import { type Codec, MULAW_8K } from '../../../foundation/units.ts';
import type {
  CallStart,
  CarrierCommand,
  CarrierEvent,
  CarrierSignal,
  Dialect,
  Playback,
  WireMessage,
} from '../../../protocols/dialect.ts';
import { type ControlFormat, type ControlMessage, formatOf, readControl, writeCommand } from './control-messages.ts';

const IDENTIFIER = /^[!-~]{1,128}$/;
const DIGIT = /^[0-9*#A-D]$/;
/** Variables that a dialplan sets for us, under the name that they are inherited by: `__TRUNKLINE_FROM`. */
const VARIABLE = /^_{0,2}TRUNKLINE_([A-Z0-9_]{1,64})$/;
/**
 * Linear PCM in the machine's byte order, which is little-endian wherever Asterisk runs; a bare `slin` is 8 kHz
 * (main/codec_builtin.c).
 */
const LINEAR = /^(?:slin|sln)(8|12|16|24|32|44|48|96|192)?$/;
const CD_RATE_HZ = 44_100;
/** What may come before the start: users of 22.7 see sound there, and a key may be pressed as well as a word said. */
const BEFORE_START = ['MEDIA_START', 'DTMF_END'];
const COMMANDS: Readonly<Record<CarrierSignal, string>> = { answer: 'ANSWER', hangup: 'HANGUP', probe: 'GET_STATUS' };

function codecOf(format: string | undefined): Codec {
  if (format === 'ulaw') return MULAW_8K;
  if (format === 'alaw') return { ...MULAW_8K, name: 'alaw' };
  const [linear, khz = '8'] = LINEAR.exec(format ?? '') ?? [];
  if (linear !== undefined) {
    return { name: 'pcm16', rateHz: khz === '44' ? CD_RATE_HZ : Number(khz) * 1000, channels: 1, bytesPerSample: 2 };
  }
  const got = /^[\w.-]{1,32}$/.test(format ?? '') ? format : 'none or a strange one';
  throw new TrunklineError(
    'codec_unsupported',
    `format: got ${got}, expected ulaw, alaw or slin at any rate: Dial(WebSocket/…/c(slin16))`,
  );
}

/**
 * What becomes of the sound that we send, by the options in the dial string (`bridge/c(slin16)f(json)`), which JSON
 * tells: `d(in)` throws it away, and `p` hands it on as it comes.
 */
function playbackOf(variables: ControlMessage['variables']): Playback {
  const options = (variables['DIALEDPEERNUMBER'] ?? '').replace(/^[^/]*\/?/, '');
  if (/(?:^|\))[a-z]*d\(in\)/.test(options)) return 'none';
  return /p/.test(options.replace(/\([^)]*\)?/g, '')) ? 'paced' : 'buffered';
}

/** `TRUNKLINE_BARGE_IN` → `bargeIn`. */
function camelCase(name: string): string {
  return name.toLowerCase().replace(/(?<!_)_+([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

function parametersOf(variables: ControlMessage['variables']): Record<string, string> {
  const parameters: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(variables)) {
    const own = VARIABLE.exec(name)?.[1];
    if (own !== undefined) parameters[camelCase(own)] = value;
  }
  return parameters;
}

function identifierAt({ fields }: ControlMessage, key: string): string {
  const value = fields[key];
  if (value !== undefined && IDENTIFIER.test(value)) return value;
  throw new TrunklineError(
    'message_malformed',
    `${key}: got ${value?.length ?? 0} characters, expected an identifier of 1 to 128`,
  );
}

/** Releases before 20.17 and 22.7 tell no `channel_id`: the channel's name ends in what is its own. */
function callIdOf(message: ControlMessage, channel: string): string {
  return message.fields['channel_id'] === undefined
    ? channel.slice(channel.lastIndexOf('/') + 1)
    : identifierAt(message, 'channel_id');
}

function startOf(message: ControlMessage, carrier: string): CallStart {
  const channel = identifierAt(message, 'channel');
  const parameters = parametersOf(message.variables);
  return {
    carrier,
    callId: callIdOf(message, channel),
    streamId: channel,
    from: parameters['from'] || null,
    to: parameters['to'] || null,
    tracks: ['inbound'],
    codec: codecOf(message.fields['format']),
    playback: playbackOf(message.variables),
    parameters,
  };
}

function ignored(what: string): CarrierEvent {
  return { type: 'ignored', what };
}

/** One channel of Asterisk. */
export class AsteriskDialect implements Dialect {
  readonly carrier = 'asterisk';
  #start: CallStart | null = null;
  #format: ControlFormat = 'plain-text';
  /** Counts frames that Asterisk itself knows to be lost, too. */
  #sequence = 0;

  /** One message in, one event out. Throws what is in the registry of errors under "A carrier's messages". */
  receive(message: WireMessage): CarrierEvent {
    if (typeof message !== 'string') return this.#receiveMedia(message);
    if (this.#start === null) this.#format = formatOf(message);
    const control = readControl(message, this.#format);
    if (this.#start === null && !BEFORE_START.includes(control.name)) return ignored('before_start');
    switch (control.name) {
      case 'MEDIA_START':
        return this.#receiveStart(control);
      case 'DTMF_END':
        return this.#receiveDtmf(control);
      case 'MEDIA_MARK_PROCESSED':
      case 'MEDIA_BUFFERING_COMPLETED':
        return { type: 'mark', name: control.fields['correlation_id'] ?? '' };
      case 'STATUS':
      case 'MEDIA_XOFF':
      case 'MEDIA_XON':
      case 'QUEUE_DRAINED':
      case 'ERROR':
        return ignored(control.name.toLowerCase());
      default:
        return ignored('unknown_event');
    }
  }

  /**
   * Audio as it is: frames of the codec, whole and in one message each. A mark is the event that follows it in the
   * queue: MARK_MEDIA where there is JSON, else the end of a buffering that was never begun, which every release has. A
   * flush takes queued marks with it and says nothing; QUEUE_DRAINED, asked for in front of it, is its receipt. Throws
   * `invalid_request` before `start` and where sound is thrown away.
   */
  format(command: CarrierCommand): WireMessage | readonly WireMessage[] {
    if (this.#start === null) throw new TrunklineError('invalid_request', 'nothing can be sent before MEDIA_START');
    if (this.#start.playback === 'none')
      throw new TrunklineError('invalid_request', 'this channel only listens: it was dialled with d(in)');
    if (command.type === 'audio') return command.bytes;
    if (command.type === 'clear')
      return ['REPORT_QUEUE_DRAINED', 'FLUSH_MEDIA'].map((name) => writeCommand(name, this.#format));
    return writeCommand(this.#format === 'json' ? 'MARK_MEDIA' : 'STOP_MEDIA_BUFFERING', this.#format, command.name);
  }

  /** ANSWER (a second one does no harm), HANGUP, or GET_STATUS, which is answered at once. */
  signal(signal: CarrierSignal): WireMessage {
    return writeCommand(COMMANDS[signal], this.#format);
  }

  #receiveStart(control: ControlMessage): CarrierEvent {
    if (this.#start !== null)
      throw new TrunklineError('start_repeated', 'got a second MEDIA_START, expected one per channel');
    this.#start = startOf(control, this.carrier);
    return { type: 'start', start: this.#start };
  }

  /** An empty message stands for a frame that the jitter buffer in front of us waited for in vain. */
  #receiveMedia(bytes: Uint8Array): CarrierEvent {
    this.#sequence++;
    if (bytes.length === 0) return ignored('lost_frame');
    return { type: 'audio', track: 'inbound', bytes, atMs: null, sequence: this.#sequence };
  }

  #receiveDtmf({ fields }: ControlMessage): CarrierEvent {
    const digit = fields['digit'] ?? '';
    if (DIGIT.test(digit)) return { type: 'dtmf', track: 'inbound', digit };
    throw new TrunklineError('message_malformed', 'digit: got something else, expected one of 0-9 * # A-D');
  }
}
