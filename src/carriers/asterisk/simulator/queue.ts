/**
 * What chan_websocket does with what an app sends it: a queue of frames that a timer empties, with marks, buffering,
 * pause and high water, as channels/chan_websocket.c of 22.10 has it and recordings show it. No socket and no clock:
 * whoever has them calls {@link AsteriskQueue.tick}.
 */
import { COMMAND_MAX_BYTES, type ControlFormat } from '../wire/control-messages.ts';

/** At so many frames the app is asked to stop, below so many to go on. */
const XOFF_FRAMES = 900;
const XON_FRAMES = 800;
/** With so many frames in the queue a message is dropped. */
const QUEUE_MAX_FRAMES = 1000;

/**
 * What becomes of sound, by the dial string: `queued`; `dropped` = `d(in)`, thrown away; `passed` = `p`, played as it
 * comes. In the latter two most commands are answered with an ERROR.
 */
export type MediaMode = 'queued' | 'dropped' | 'passed';

const QUEUE_COMMANDS = ['START_MEDIA_BUFFERING', 'STOP_MEDIA_BUFFERING', 'MARK_MEDIA', 'PAUSE_MEDIA', 'CONTINUE_MEDIA'];
const REFUSED_COMMANDS: Readonly<Record<MediaMode, readonly string[]>> = {
  queued: [],
  dropped: QUEUE_COMMANDS,
  passed: [...QUEUE_COMMANDS, 'FLUSH_MEDIA', 'REPORT_QUEUE_DRAINED'],
};
const REFUSALS: Readonly<Record<MediaMode, string>> = {
  queued: '',
  dropped: "while media direction is 'in'",
  passed: 'in passthrough mode',
};

type Entry =
  | { readonly type: 'frame'; readonly bytes: Uint8Array }
  | { readonly type: 'event'; readonly message: string };

interface QueueOptions {
  /** Bytes of one frame. */
  readonly frameBytes: number;
  readonly format: ControlFormat;
  readonly channelId: string;
  /** `queued` by default. */
  readonly media?: MediaMode;
  /** Whether it knows MARK_MEDIA, as releases since 20.18, 22.8 and 23.2 do; true by default. */
  readonly hasMarks?: boolean;
}

/** One command, read leniently as Asterisk does. */
interface Command {
  readonly name: string;
  readonly id: string;
}

/** The queue of one channel. Its methods return the messages that Asterisk sends because of them. */
export class AsteriskQueue {
  /** Commands that Asterisk ignored and sound that it threw away, in words. */
  readonly warnings = new Set<string>();
  answered = false;
  hungUp = false;
  readonly #options: QueueOptions;
  #entries: Entry[] = [];
  #frames = 0;
  #highest = 0;
  #rest: Uint8Array = new Uint8Array(0);
  #buffering = false;
  #paused = false;
  #full = false;
  #reportDrained = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Frames waiting, and most that ever did. */
  get frames(): number {
    return this.#frames;
  }

  get highestFrames(): number {
    return this.#highest;
  }

  /** Sound to be played; `play` gets what is not queued but played at once. */
  receiveAudio(bytes: Uint8Array, play: (frame: Uint8Array) => void = () => undefined): string[] {
    const { media = 'queued' } = this.#options;
    if (media === 'dropped') this.warnings.add('sound was thrown away: d(in)');
    if (media === 'passed') play(bytes);
    if (media !== 'queued') return [];
    if (this.#frames >= QUEUE_MAX_FRAMES) {
      this.warnings.add('the queue was full: a whole message of sound was dropped');
      return [];
    }
    const whole = this.#cut(bytes);
    for (let at = 0; at < whole.length; at += this.#options.frameBytes)
      this.#push(whole.subarray(at, at + this.#options.frameBytes));
    if (this.#full || this.#frames < XOFF_FRAMES) return [];
    this.#full = true;
    return [this.#event('MEDIA_XOFF')];
  }

  /** A command. */
  receiveText(text: string): string[] {
    const length = Buffer.byteLength(text);
    if (length > COMMAND_MAX_BYTES) return this.#ignore(`a command of ${length} bytes`);
    const command = this.#options.format === 'json' ? readJson(text) : readPlain(text);
    if (command === null) return [this.#event('ERROR', { error_text: 'Unable to parse JSON command' })];
    return this.#obey(command);
  }

  /** 20 ms pass: `play` gets one frame at most, and the events before it are told. */
  tick(play: (frame: Uint8Array) => void = () => undefined): string[] {
    if (this.#paused) return [];
    const messages: string[] = [];
    if (this.#full && this.#frames < XON_FRAMES) {
      this.#full = false;
      messages.push(this.#event('MEDIA_XON'));
    }
    if (this.#entries.length === 0 && this.#reportDrained) {
      this.#reportDrained = false;
      messages.push(this.#event('QUEUE_DRAINED'));
    }
    for (let entry = this.#entries.shift(); entry !== undefined; entry = this.#entries.shift()) {
      if (entry.type === 'frame') {
        this.#frames--;
        play(entry.bytes);
        break;
      }
      messages.push(entry.message);
    }
    return messages;
  }

  #obey(command: Command): string[] {
    const { media = 'queued', hasMarks = true } = this.#options;
    const { name } = command;
    if (REFUSED_COMMANDS[media].includes(name)) {
      return [this.#event('ERROR', { error_text: `${name} not supported ${REFUSALS[media]}` })];
    }
    return name === 'MARK_MEDIA' && !hasMarks ? this.#ignore('an unknown command') : this.#execute(command);
  }

  #execute({ name, id }: Command): string[] {
    switch (name) {
      case 'ANSWER':
        this.answered = true;
        return [];
      case 'HANGUP':
        this.hungUp = true;
        return [];
      case 'START_MEDIA_BUFFERING':
        this.#buffering = true;
        return [];
      case 'STOP_MEDIA_BUFFERING':
        this.#stopBuffering();
        return this.#queueEvent('MEDIA_BUFFERING_COMPLETED', id);
      case 'MARK_MEDIA':
        return this.#queueEvent('MEDIA_MARK_PROCESSED', id);
      case 'FLUSH_MEDIA':
        return this.#flush();
      case 'PAUSE_MEDIA':
      case 'CONTINUE_MEDIA':
        this.#paused = name === 'PAUSE_MEDIA';
        return [];
      case 'REPORT_QUEUE_DRAINED':
        this.#reportDrained = true;
        return [];
      case 'GET_STATUS':
        return [this.#status()];
      default:
        return this.#ignore('an unknown command');
    }
  }

  /** The whole frames of what came. With buffering the rest waits for more; without, it is thrown away. */
  #cut(bytes: Uint8Array): Uint8Array {
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    const whole = all.length - (all.length % this.#options.frameBytes);
    this.#rest = this.#buffering ? all.subarray(whole) : new Uint8Array(0);
    if (!this.#buffering && whole < all.length) this.warnings.add('part of a frame was dropped');
    return all.subarray(0, whole);
  }

  #stopBuffering(): void {
    this.#buffering = false;
    if (this.#rest.length > 0) this.#push(this.#rest);
    this.#rest = new Uint8Array(0);
  }

  #push(bytes: Uint8Array): void {
    this.#entries.push({ type: 'frame', bytes });
    this.#frames++;
    this.#highest = Math.max(this.#highest, this.#frames);
  }

  #queueEvent(name: string, id: string): string[] {
    this.#entries.push({ type: 'event', message: this.#event(name, { correlation_id: id }) });
    return [];
  }

  /** Marks are removed too, and not told; a pause and REPORT_QUEUE_DRAINED stay. */
  #flush(): string[] {
    this.#entries = [];
    this.#frames = 0;
    this.#rest = new Uint8Array(0);
    this.#buffering = false;
    return [];
  }

  #status(): string {
    return this.#event('STATUS', {
      queue_length: this.#frames,
      xon_level: XON_FRAMES,
      xoff_level: XOFF_FRAMES,
      queue_full: this.#full,
      bulk_media: this.#buffering,
      media_paused: this.#paused,
    });
  }

  #ignore(what: string): string[] {
    this.warnings.add(`${what} was ignored`);
    return [];
  }

  #event(name: string, fields: Readonly<Record<string, string | number | boolean>> = {}): string {
    const { format, channelId } = this.#options;
    return writeEvent(
      name,
      name === 'STATUS' || name === 'ERROR' ? { channel_id: channelId, ...fields } : fields,
      format,
      channelId,
    );
  }
}

/**
 * An event as Asterisk writes it: in JSON always with its channel, in plain text with the fields given and an id
 * without its name.
 */
export function writeEvent(
  name: string,
  fields: Readonly<Record<string, string | number | boolean | object>>,
  format: ControlFormat,
  channelId: string,
): string {
  if (format === 'json') return JSON.stringify({ event: name, channel_id: channelId, ...fields });
  const parts = Object.entries(fields).map(([key, value]) =>
    key === 'correlation_id' ? String(value) : `${key}:${value}`,
  );
  return [name, ...parts].filter((part) => part !== '').join(' ');
}

function readPlain(text: string): Command {
  const [, name = '', id = ''] = /^(\S*)\s*(.*)/s.exec(text.trim()) ?? [];
  return { name, id };
}

/** Null for what is no JSON object or list. */
function readJson(text: string): Command | null {
  if (text === '') return { name: '', id: '' };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null) return null;
  const { command, correlation_id: id } = json as Record<string, unknown>;
  return { name: typeof command === 'string' ? command : '', id: typeof id === 'string' ? id : '' };
}
