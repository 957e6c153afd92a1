/**
 * A simulated Asterisk that connects to a server by AudioSocket. It is as strict as the real one, and has no buffer for
 * what it receives.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { encodeG711 } from '../../../audio/g711.ts';
import type { Clock, Timer } from '../../../foundation/clock.ts';
import { type Codec, FRAME_MS, msToSamples, samplesToMs } from '../../../foundation/units.ts';
import { PhonePlayback } from '../../../simulator/phone-playback.ts';
import { seededRandom } from '../../../simulator/random.ts';
import { AudioSocketReader, slinKindOf } from './reader.ts';

const KIND_UUID = 0x01;
const KIND_DTMF = 0x03;
const KIND_SLIN = 0x10;
/** How long Asterisk waits for a payload whose header is there. */
const PAYLOAD_WAIT_MS = 5;
/** The application ends a call in which neither side has sent a frame for this long. */
const IDLE_MAX_MS = 2000;
/** A fast call waits for a server that has this much to read. */
const SEND_BUFFER_MAX_BYTES = 256 * 1024;
/** A fast call lets the rest of the process run after so many frames. */
const FRAMES_PER_TURN = 50;

/** A call that Asterisk places with a server. Times are ms since the server was connected. */
export interface AudioSocketCallOptions {
  readonly host: string;
  readonly port: number;
  /** The call's id; one of its own by default. */
  readonly uuid?: string;
  /** What the caller says, at the rate of `codec`. */
  readonly audio: Int16Array;
  /** `c(slin16)` and so on; the application has slin alone. */
  readonly codec: Codec;
  /** `application`: AudioSocket(), with its rule of 2 s. `channel`: Dial(AudioSocket/…). */
  readonly driver: 'application' | 'channel';
  /** `realtime`: a frame every 20 ms by the clock. `fast`: as fast as the server reads. */
  readonly pace: 'realtime' | 'fast';
  readonly clock: Clock;
  readonly dtmf?: readonly { readonly atMs: number; readonly digit: string }[];
  /** Share (0–1) of frames that get lost on the way to Asterisk. */
  readonly lossShare?: number;
  readonly seed?: number;
  /** While the caller is muted nothing is sent at all. */
  readonly muted?: { readonly fromMs: number; readonly toMs: number };
  /** Cut the connection without a close at this time. */
  readonly dropAtMs?: number;
  /** Sound as the far party hears it: linear PCM at `rateHz`, frame by frame when it does. */
  onAudio?(frame: Uint8Array, rateHz: number): void;
}

/**
 * Who ended a call: the caller, the server by hang-up or by closing, Asterisk because of a mistake of the server or its
 * silence, or nobody (a lost connection).
 */
export type AudioSocketEnd = 'caller' | 'bridge' | 'asterisk' | 'lost';

/** How a call went. */
export interface AudioSocketCallReport {
  readonly uuid: string;
  readonly sentMs: number;
  readonly receivedBytes: number;
  /** Sound that the far party heard, and that it threw away because too much came at once. */
  readonly heardMs: number;
  readonly clippedMs: number;
  readonly highestAheadMs: number;
  readonly longestGapMs: number;
  readonly endedBy: AudioSocketEnd;
  /** Why Asterisk ended it, in the words of its log. */
  readonly reason: string;
  /** What Asterisk would only have logged. */
  readonly warnings: readonly string[];
}

/**
 * One call. It ends when its audio has been sent, at `dropAtMs`, by {@link hangup}, or when the server hangs up or
 * makes a mistake.
 */
export class AudioSocketCaller {
  readonly uuid: string;
  readonly #options: AudioSocketCallOptions;
  readonly #reader: AudioSocketReader;
  readonly #playback = new PhonePlayback();
  readonly #random: () => number;
  readonly #digits: { readonly atMs: number; readonly digit: string }[];
  readonly #frameSamples: number;
  #socket: Socket | null = null;
  /** The next frame is due; and a payload is waited for. */
  #timer: Timer | null = null;
  #payloadTimer: Timer | null = null;
  #startMs = 0;
  #lastFrameMs = 0;
  #frames = 0;
  #receivedBytes = 0;
  #end: AudioSocketEnd | null = null;
  #reason = '';

  constructor(options: AudioSocketCallOptions) {
    this.#options = options;
    this.uuid = options.uuid ?? randomUUID();
    this.#reader = new AudioSocketReader({ onFrame: (bytes, rateHz) => this.#play(bytes, rateHz) });
    this.#random = seededRandom(options.seed ?? 1);
    this.#digits = [...(options.dtmf ?? [])].sort((a, b) => a.atMs - b.atMs);
    this.#frameSamples = msToSamples(FRAME_MS, options.codec.rateHz);
  }

  /** Time of the call so far, by its frames. */
  get sentMs(): number {
    return this.#frames * FRAME_MS;
  }

  /**
   * Connects and speaks; resolves when the call is over. To be called once.
   * @throws Error when the server cannot be reached.
   */
  async run(): Promise<AudioSocketCallReport> {
    const socket = connect({ host: this.#options.host, port: this.#options.port, noDelay: true });
    this.#socket = socket;
    await once(socket, 'connect').catch((error: Error) => {
      throw new Error(`the server did not accept the call: ${error.message}`);
    });
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    this.#listen(socket);
    this.#startMs = this.#options.clock.nowMs();
    this.#lastFrameMs = this.#startMs;
    this.#send(KIND_UUID, Buffer.from(this.uuid.replaceAll('-', ''), 'hex'));
    if (this.#options.pace === 'fast') await this.#speakFast(socket);
    else this.#speak();
    await closed;
    return this.#report();
  }

  /** The far party hangs up: Asterisk closes and says nothing else. */
  hangup(): void {
    this.#finish('caller');
  }

  #listen(socket: Socket): void {
    socket.on('data', (data: Buffer) => this.#receive(data));
    socket.on('end', () => this.#finish('bridge'));
    socket.on('error', () => this.#finish('lost'));
    socket.on('close', () => this.#finish('lost'));
  }

  #report(): AudioSocketCallReport {
    const { heardMs, clippedMs, highestAheadMs, longestGapMs } = this.#playback;
    return {
      uuid: this.uuid,
      sentMs: this.sentMs,
      receivedBytes: this.#receivedBytes,
      heardMs,
      clippedMs,
      highestAheadMs,
      longestGapMs,
      endedBy: this.#end ?? 'lost',
      reason: this.#reason,
      warnings: [...this.#reader.warnings],
    };
  }

  /**
   * Only the first end counts. Asterisk resets a connection in which it left something unread, as it does after a
   * mistake.
   */
  #finish(end: AudioSocketEnd, reason = ''): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#reason = reason;
    this.#timer?.cancel();
    this.#payloadTimer?.cancel();
    if (end === 'asterisk') this.#socket?.resetAndDestroy();
    else this.#socket?.end();
  }

  /** Does what is due and sleeps until the next tick, which is counted from the start, so that delays never add up. */
  #speak(): void {
    const { clock } = this.#options;
    while (this.#end === null && (this.#frames + 1) * FRAME_MS <= clock.nowMs() - this.#startMs) this.#tick();
    if (this.#end !== null) return;
    const dueMs = this.#startMs + (this.#frames + 1) * FRAME_MS;
    this.#timer = clock.after(Math.max(dueMs - clock.nowMs(), 0), () => this.#speak());
  }

  async #speakFast(socket: Socket): Promise<void> {
    while (this.#end === null) {
      this.#tick();
      if (this.#frames % FRAMES_PER_TURN === 0 || socket.writableLength > SEND_BUFFER_MAX_BYTES) await setImmediate();
    }
  }

  /** 20 ms of the call: what the caller said in them, and the keys pressed. */
  #tick(): void {
    const { audio, dropAtMs = Number.POSITIVE_INFINITY, driver, clock } = this.#options;
    if (this.sentMs >= dropAtMs) {
      this.#socket?.destroy();
      this.#finish('caller');
      return;
    }
    if (this.#frames * this.#frameSamples >= audio.length) {
      this.#finish('caller');
      return;
    }
    this.#sendFrame();
    this.#frames++;
    while (this.#digits[0] !== undefined && this.#digits[0].atMs < this.sentMs)
      this.#press(this.#digits.shift()?.digit ?? '');
    const isIdle = clock.nowMs() - this.#lastFrameMs >= IDLE_MAX_MS;
    if (driver === 'application' && isIdle)
      this.#finish('asterisk', `Reached timeout after ${IDLE_MAX_MS} ms of no activity`);
  }

  #sendFrame(): void {
    const { audio, codec, muted, lossShare = 0, clock } = this.#options;
    if (muted !== undefined && this.sentMs >= muted.fromMs && this.sentMs < muted.toMs) return;
    if (this.#random() < lossShare) return;
    const from = this.#frames * this.#frameSamples;
    const kind = codec.name === 'pcm16' ? slinKindOf(codec.rateHz) : KIND_SLIN;
    this.#lastFrameMs = clock.nowMs();
    this.#send(kind, encodeG711(audio.subarray(from, from + this.#frameSamples), codec));
  }

  /** Asterisk tells a key only when it is released. */
  #press(digit: string): void {
    this.#send(KIND_DTMF, Buffer.from(digit, 'ascii'));
  }

  #receive(data: Buffer): void {
    if (this.#end !== null) return;
    this.#receivedBytes += data.length;
    this.#payloadTimer?.cancel();
    this.#reader.receive(data);
    if (this.#reader.end === 'hangup') this.#finish('bridge');
    else if (this.#reader.end === 'error') this.#finish('asterisk', this.#reader.error);
    else if (this.#reader.waitsForPayload) this.#awaitPayload();
  }

  /** A held-up process may have the rest in its socket already: that is looked at first. */
  #awaitPayload(): void {
    this.#payloadTimer = this.#options.clock.after(PAYLOAD_WAIT_MS, () => {
      const before = this.#receivedBytes;
      void setImmediate().then(() => {
        if (this.#receivedBytes > before || !this.#reader.waitsForPayload) return;
        this.#reader.giveUp();
        this.#finish('asterisk', this.#reader.error);
      });
    });
  }

  #play(bytes: Uint8Array, rateHz: number): void {
    const nowMs = this.#options.clock.nowMs();
    this.#lastFrameMs = nowMs;
    if (this.#playback.receive(samplesToMs(bytes.length >> 1, rateHz), nowMs)) this.#options.onAudio?.(bytes, rateHz);
  }

  #send(kind: number, payload: Uint8Array): void {
    if (this.#socket?.writable !== true) return;
    const header = Buffer.from([kind, payload.length >> 8, payload.length & 0xff]);
    this.#socket.write(Buffer.concat([header, payload]));
  }
}
