/**
 * A simulated Asterisk that dials a server as chan_websocket does, with its queue, its timer and its strictness, and
 * plays what the far party would hear.
 */
import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { frameBytes } from '../../../audio/frames.ts';
import { encodeG711 } from '../../../audio/g711.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { type Codec, FRAME_MS, msToSamples } from '../../../foundation/units.ts';
import { seededRandom } from '../../../simulator/random.ts';
import { type SocketEnd, untilClosed, untilOpen } from '../../../simulator/socket.ts';
import type { ControlFormat } from '../wire/control-messages.ts';
import { AsteriskQueue, type MediaMode, writeEvent } from './queue.ts';

/** Asterisk waits this long for the upgrade only since 22.11; before, for ever. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** The largest message that Asterisk takes from a server: one byte more and it hangs up with 1009. */
const MESSAGE_MAX_BYTES = 65_531;
/** A fast call waits for a server that has this much to read. */
const SEND_BUFFER_MAX_BYTES = 256 * 1024;
/** A fast call lets the rest of the process run after so many frames. */
const FRAMES_PER_TURN = 50;
const SIGNED_LINEAR = 'slin';

/** A call that Asterisk places with a server. Times are ms since the server was connected. */
export interface AsteriskCallOptions {
  /** The server's media endpoint, `ws:` or `wss:`. */
  readonly url: string;
  /** What the caller says, at the rate of `codec`. */
  readonly audio: Int16Array;
  readonly codec: Codec;
  readonly format: ControlFormat;
  /** `realtime`: a frame every 20 ms by the clock. `fast`: as fast as the server reads. */
  readonly pace: 'realtime' | 'fast';
  readonly clock: Clock;
  /** Channel variables under the name that they are inherited by; only JSON tells them. */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * More options of the dial string, of which only JSON tells: `d(in)` throws away what the server sends, `p` plays it
   * as it comes.
   */
  readonly dialOptions?: string;
  /**
   * As releases before 20.18 and 22.8 are: no marks, no `channel_id` in MEDIA_START, and a ping of the server ends the
   * call. With `plain-text` alone.
   */
  readonly firstRelease?: boolean;
  readonly user?: string;
  readonly password?: string;
  readonly dtmf?: readonly { readonly atMs: number; readonly digit: string }[];
  /**
   * Share (0–1) of frames that get lost on the way to Asterisk, with or without a jitter buffer that says so (an empty
   * message).
   */
  readonly lossShare?: number;
  readonly jitterBuffer?: boolean;
  readonly seed?: number;
  /** While the caller is muted nothing is sent at all. */
  readonly muted?: { readonly fromMs: number; readonly toMs: number };
  /** Cut the connection without a close at this time. */
  readonly dropAtMs?: number;
  /** Sound as the far party hears it, frame by frame when it does. */
  onAudio?(frame: Uint8Array): void;
}

/** How a call went. */
export interface AsteriskCallReport {
  /** Asterisk's name for the channel, and so the call's id. */
  readonly channelId: string;
  readonly sentMs: number;
  readonly received: { readonly mediaBytes: number; readonly marks: number; readonly clears: number };
  /** Sound that the far party heard, and the most that ever waited to be heard. */
  readonly heardMs: number;
  readonly highestQueueFrames: number;
  readonly answered: boolean;
  /** What Asterisk would only have logged. */
  readonly warnings: readonly string[];
  readonly closeCode: number;
  readonly closeReason: string;
}

/** One call. It ends when its audio has been sent, at `dropAtMs`, by {@link hangup}, or when the server hangs up. */
export class AsteriskCaller {
  readonly channelId = `${randomInt(1_000_000_000, 2_000_000_000)}.${randomInt(1, 10_000)}`;
  readonly #options: AsteriskCallOptions;
  readonly #queue: AsteriskQueue;
  readonly #random: () => number;
  readonly #digits: { readonly atMs: number; readonly digit: string }[];
  readonly #received = { mediaBytes: 0, marks: 0, clears: 0 };
  readonly #frameSamples: number;
  #socket: WebSocket | null = null;
  #timer: Timer | null = null;
  #startMs = 0;
  #frames = 0;
  #heardFrames = 0;
  #ending = false;

  constructor(options: AsteriskCallOptions) {
    this.#options = options;
    this.#frameSamples = msToSamples(FRAME_MS, options.codec.rateHz);
    this.#queue = new AsteriskQueue({
      frameBytes: frameBytes(options.codec),
      format: options.format,
      channelId: this.channelId,
      media: mediaMode(options.dialOptions ?? ''),
      hasMarks: options.firstRelease !== true,
    });
    this.#random = seededRandom(options.seed ?? 1);
    this.#digits = [...(options.dtmf ?? [])].sort((a, b) => a.atMs - b.atMs);
  }

  /** Time of the call so far, by its frames. */
  get sentMs(): number {
    return this.#frames * FRAME_MS;
  }

  /**
   * Connects and speaks; resolves when the call is over. To be called once.
   * @throws Error when the server cannot be reached or refuses the handshake.
   */
  async run(): Promise<AsteriskCallReport> {
    const socket = this.#connect();
    this.#socket = socket;
    const closed = untilClosed(socket, () => this.#onClosed());
    await untilOpen(socket);
    this.#startMs = this.#options.clock.nowMs();
    this.#send(this.#mediaStart());
    if (this.#options.pace === 'fast') await this.#speakFast(socket);
    else this.#speak();
    return this.#report(await closed);
  }

  /** The far party hangs up: Asterisk closes with 1000 and says nothing else, not even of its marks. */
  hangup(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#timer?.cancel();
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close(1000);
    else this.#socket?.terminate();
  }

  /** Presses a key. Asterisk tells it only when it is released. */
  press(digit: string): void {
    const { format } = this.#options;
    const fields = format === 'json' ? { digit } : { digit, channel_id: this.channelId };
    this.#send(writeEvent('DTMF_END', fields, format, this.channelId));
  }

  #connect(): WebSocket {
    const { url, user, password } = this.#options;
    const socket = new WebSocket(url, 'media', {
      ...(password === undefined ? {} : { headers: { authorization: basicHeader(user ?? '', password) } }),
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MESSAGE_MAX_BYTES,
    });
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on('ping', () => this.#onPing());
    return socket;
  }

  /** The first releases do not know pings, and hang up. */
  #onPing(): void {
    if (this.#options.firstRelease !== true) return;
    this.#queue.warnings.add('a ping ended the call');
    this.hangup();
  }

  #onClosed(): void {
    this.#ending = true;
    this.#timer?.cancel();
  }

  #report(end: SocketEnd): AsteriskCallReport {
    const { answered, highestFrames, warnings } = this.#queue;
    return {
      channelId: this.channelId,
      sentMs: this.sentMs,
      received: { ...this.#received },
      heardMs: this.#heardFrames * FRAME_MS,
      highestQueueFrames: highestFrames,
      answered,
      warnings: [...warnings],
      ...end,
    };
  }

  #mediaStart(): string {
    const { codec, format, variables = {}, dialOptions = '', firstRelease = false } = this.#options;
    const name = formatName(codec);
    const size = frameBytes(codec);
    const identity = {
      connection_id: 'trunkline',
      channel: `WebSocket/trunkline/0x${randomInt(2 ** 40).toString(16)}`,
    };
    const media = { format: name, optimal_frame_size: size, ptime: FRAME_MS };
    const id = firstRelease ? {} : { channel_id: this.channelId };
    if (format === 'plain-text') return writeEvent('MEDIA_START', { ...identity, ...id, ...media }, format, '');
    const channelVariables = {
      DIALEDPEERNUMBER: `trunkline/c(${name})f(json)${dialOptions}`,
      MEDIA_WEBSOCKET_CONNECTION_ID: 'trunkline',
      MEDIA_WEBSOCKET_OPTIMAL_FRAME_SIZE: String(size),
      ...variables,
    };
    return writeEvent(
      'MEDIA_START',
      { ...identity, ...media, channel_variables: channelVariables },
      format,
      this.channelId,
    );
  }

  /** Does what is due and sleeps until the next tick, which is counted from the start, so that delays never add up. */
  #speak(): void {
    const { clock } = this.#options;
    while (!this.#ending && (this.#frames + 1) * FRAME_MS <= clock.nowMs() - this.#startMs) this.#tick();
    if (this.#ending) return;
    const dueMs = this.#startMs + (this.#frames + 1) * FRAME_MS;
    this.#timer = clock.after(Math.max(dueMs - clock.nowMs(), 0), () => this.#speak());
  }

  async #speakFast(socket: WebSocket): Promise<void> {
    while (!this.#ending) {
      this.#tick();
      if (this.#frames % FRAMES_PER_TURN === 0 || socket.bufferedAmount > SEND_BUFFER_MAX_BYTES) await setImmediate();
    }
  }

  /** 20 ms of the call: what the caller said in them, the keys pressed, and what is played. */
  #tick(): void {
    const { audio, dropAtMs = Number.POSITIVE_INFINITY } = this.#options;
    const atMs = this.sentMs;
    if (atMs >= dropAtMs) {
      this.#ending = true;
      this.#socket?.terminate();
      return;
    }
    if (this.#frames * this.#frameSamples >= audio.length) {
      this.hangup();
      return;
    }
    this.#sendFrame(atMs);
    this.#frames++;
    while (this.#digits[0] !== undefined && this.#digits[0].atMs < this.sentMs)
      this.press(this.#digits.shift()?.digit ?? '');
    for (const message of this.#queue.tick((frame) => this.#play(frame))) this.#send(message);
  }

  #sendFrame(atMs: number): void {
    const { audio, codec, muted, lossShare = 0, jitterBuffer = false } = this.#options;
    if (muted !== undefined && atMs >= muted.fromMs && atMs < muted.toMs) return;
    const from = this.#frames * this.#frameSamples;
    if (this.#random() >= lossShare)
      this.#socket?.send(encodeG711(audio.subarray(from, from + this.#frameSamples), codec));
    else if (jitterBuffer) this.#socket?.send(new Uint8Array(0));
  }

  #play(frame: Uint8Array): void {
    this.#heardFrames++;
    this.#options.onAudio?.(frame);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.#received.mediaBytes += data.length;
      for (const message of this.#queue.receiveAudio(data, (frame) => this.#play(frame))) this.#send(message);
      return;
    }
    const text = data.toString();
    if (/MARK_MEDIA|STOP_MEDIA_BUFFERING/.test(text)) this.#received.marks++;
    if (text.includes('FLUSH_MEDIA')) this.#received.clears++;
    for (const message of this.#queue.receiveText(text)) this.#send(message);
    if (this.#queue.hungUp) this.hangup();
  }

  #send(message: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(message);
  }
}

function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function mediaMode(dialOptions: string): MediaMode {
  if (dialOptions.includes('d(in)')) return 'dropped';
  return dialOptions.replace(/\([^)]*\)?/g, '').includes('p') ? 'passed' : 'queued';
}

/** Asterisk's name of a codec: `ulaw`, `alaw`, `slin`, `slin16`, … */
function formatName({ name, rateHz }: Codec): string {
  if (name === 'mulaw') return 'ulaw';
  if (name === 'alaw') return 'alaw';
  const khz = Math.floor(rateHz / 1000);
  return khz === 8 ? SIGNED_LINEAR : `${SIGNED_LINEAR}${khz}`;
}
