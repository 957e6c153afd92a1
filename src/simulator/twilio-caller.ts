/**
 * The carrier in the box: places a call with a server exactly as Twilio Media Streams does, over whatever line it is
 * told to have.
 */
import { randomUUID } from 'node:crypto';
import type { createConnection } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { encodeG711 } from '../audio/g711.ts';
import type { Clock, Timer } from '../foundation/clock.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../foundation/units.ts';
import { Line, type LineFaults } from './line.ts';
import { PlaybackBuffer } from './playback-buffer.ts';
import { type SocketEnd, untilClosed, untilOpen } from './socket.ts';
import { readServerMessage, type StreamIdentity, TwilioWriter } from './twilio-messages.ts';
import { signedStreamUrl, signTwilio } from './twilio-webhook.ts';

const FRAME_SAMPLES = msToSamples(FRAME_MS, MULAW_8K.rateHz);
const HANDSHAKE_TIMEOUT_MS = 10_000;
/**
 * At most this much of our media waits for a server that does not read: beyond it Twilio drops audio, and a fast call
 * waits.
 */
const SEND_BUFFER_MAX_BYTES = 256 * 1024;
const MESSAGE_MAX_BYTES = 1024 * 1024;
/** A fast call lets the rest of the process run after so many frames. */
const FRAMES_PER_TURN = 50;

/** A call to place. Times are ms since its stream began; audio is 8 kHz. */
export interface CallOptions extends Partial<LineFaults> {
  /** The server's media endpoint, `ws:` or `wss:`. */
  readonly url: string;
  /**
   * `outbound` beside `inbound` makes the stream unidirectional with both tracks, as Twilio does: it takes no audio and
   * tells no DTMF.
   */
  readonly tracks: { readonly inbound: Int16Array; readonly outbound?: Int16Array };
  /**
   * `realtime`: a frame every 20 ms by the clock. `fast`: as fast as the server reads, so that jitter has no effect.
   */
  readonly pace: 'realtime' | 'fast';
  readonly clock: Clock;
  readonly dtmf?: readonly { readonly atMs: number; readonly digit: string }[];
  /** Vanish without a word at this time. */
  readonly dropAtMs?: number;
  readonly callSid?: string;
  /** Told to the server as the custom parameters `from` and `to`, since Twilio's `start` has no numbers. */
  readonly from?: string;
  readonly to?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sound that the server sends to be played, as it comes: µ-law, and earlier than it is heard. */
  onAudio?(payload: Uint8Array): void;
  /** The server has what is not played yet thrown away. */
  onClear?(): void;
  /** Signs the handshake; empty = unsigned. */
  readonly authToken?: string;
  /** The origin under which Twilio knows the server (`https://host`), for the signature; empty = as in `url`. */
  readonly publicOrigin?: string;
  /** Connects in place of the network. */
  readonly createConnection?: typeof createConnection;
}

/** How a call went. */
export interface CallReport {
  readonly callSid: string;
  readonly streamSid: string;
  /** Audio of each track that was put on the line. */
  readonly sentMs: number;
  readonly received: { readonly mediaBytes: number; readonly marks: number; readonly clears: number };
  /** What Twilio's debugger would warn of, each kind once. */
  readonly warnings: readonly string[];
  /** The socket's close code: 1000 = as it should be, 1006 = the connection vanished. */
  readonly closeCode: number;
  /** What the server said to that; empty = nothing. */
  readonly closeReason: string;
}

/**
 * Places a call and resolves when it is over, whoever ended it.
 * @throws Error when the server cannot be reached or refuses the handshake, RangeError when Twilio has no such call.
 */
export function placeCall(options: CallOptions): Promise<CallReport> {
  return new TwilioCaller(options).run();
}

/**
 * One call. It ends when its audio has been sent, at `dropAtMs`, by {@link hangup} or {@link drop}, or when the server
 * closes.
 */
export class TwilioCaller {
  readonly callSid: string;
  readonly streamSid = `MZ${randomUUID().replaceAll('-', '')}`;
  readonly #options: CallOptions;
  readonly #stream: StreamIdentity;
  readonly #writer: TwilioWriter;
  readonly #line: Line;
  readonly #playback = new PlaybackBuffer(MULAW_8K);
  readonly #totalFrames: number;
  readonly #digits: { readonly atMs: number; readonly digit: string }[];
  readonly #received = { mediaBytes: 0, marks: 0, clears: 0 };
  readonly #warnings = new Set<string>();
  #socket: WebSocket | null = null;
  #timer: Timer | null = null;
  #startMs = 0;
  #frames = 0;
  #ending = false;
  /** In a fast call: resolves when the server has taken what waits for it. */
  #bufferFreed: Promise<void> = Promise.resolve();

  /** @throws RangeError when Twilio has no such call: DTMF on a unidirectional stream, no audio. */
  constructor(options: CallOptions) {
    const { inbound, outbound } = options.tracks;
    if (outbound !== undefined && options.dtmf !== undefined && options.dtmf.length > 0) {
      throw new RangeError('Twilio tells no DTMF on a stream of both tracks: send the inbound track alone');
    }
    this.#options = options;
    this.callSid = options.callSid ?? `CA${randomUUID().replaceAll('-', '')}`;
    this.#stream = {
      callSid: this.callSid,
      streamSid: this.streamSid,
      tracks: outbound === undefined ? ['inbound'] : ['inbound', 'outbound'],
      parameters: {
        ...(options.from === undefined ? {} : { from: options.from }),
        ...(options.to === undefined ? {} : { to: options.to }),
        ...options.parameters,
      },
    };
    this.#writer = new TwilioWriter(this.#stream);
    this.#line = new Line({
      jitterMs: options.jitterMs ?? 0,
      lossShare: options.lossShare ?? 0,
      reorderShare: options.reorderShare ?? 0,
      seed: options.seed ?? 1,
    });
    this.#totalFrames = Math.ceil(Math.max(inbound.length, outbound?.length ?? 0) / FRAME_SAMPLES);
    this.#digits = [...(options.dtmf ?? [])].sort((a, b) => a.atMs - b.atMs);
  }

  /** Audio of each track put on the line so far. */
  get sentMs(): number {
    return this.#frames * FRAME_MS;
  }

  /** Connects and speaks; resolves when the call is over. To be called once. */
  async run(): Promise<CallReport> {
    const socket = this.#connect();
    this.#socket = socket;
    const closed = untilClosed(socket, () => this.#onClosed());
    await untilOpen(socket);
    this.#startMs = this.#options.clock.nowMs();
    socket.send(this.#writer.connected());
    this.#line.put(this.#writer.start(), 0);
    if (this.#options.pace === 'fast') await this.#speakFast();
    else this.#speak(socket);
    return this.#report(await closed);
  }

  /** Says `stop` after what is underway and closes, as when the caller hangs up. */
  hangup(): void {
    if (this.#ending) return;
    if (this.#socket?.readyState !== WebSocket.OPEN) {
      this.drop();
      return;
    }
    this.#ending = true;
    this.#line.put(this.#writer.stop(), this.#nowMs());
    this.#flush();
  }

  /**
   * Presses a key.
   * @throws RangeError on a stream of both tracks.
   */
  sendDtmf(digit: string): void {
    if (this.#stream.tracks.includes('outbound'))
      throw new RangeError('Twilio tells no DTMF on a stream of both tracks');
    this.#say(this.#writer.dtmf(digit));
  }

  /** Vanishes: the connection is cut without a closing word. */
  drop(): void {
    this.#ending = true;
    this.#socket?.terminate();
  }

  #connect(): WebSocket {
    const { url, authToken = '', publicOrigin, headers, createConnection } = this.#options;
    const signature =
      authToken === '' ? {} : { 'x-twilio-signature': signTwilio(authToken, signedStreamUrl(url, publicOrigin)) };
    const socket = new WebSocket(url, {
      headers: { ...signature, ...headers },
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MESSAGE_MAX_BYTES,
      ...(createConnection !== undefined && { createConnection }),
    });
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    return socket;
  }

  #onClosed(): void {
    this.#ending = true;
    this.#timer?.cancel();
  }

  #report(end: SocketEnd): CallReport {
    return {
      callSid: this.callSid,
      streamSid: this.streamSid,
      sentMs: this.sentMs,
      received: { ...this.#received },
      warnings: [...this.#warnings],
      ...end,
    };
  }

  /** Time of the call: by the clock, or in a fast call by the audio sent. */
  #nowMs(): number {
    return this.#options.pace === 'fast' ? this.#frames * FRAME_MS : this.#options.clock.nowMs() - this.#startMs;
  }

  /**
   * Speaks what is due and sleeps until more is. Every time is counted from the start of the stream, so that delays
   * never add up.
   */
  #speak(socket: WebSocket): void {
    const nowMs = this.#nowMs();
    while (!this.#ending && (this.#frames + 1) * FRAME_MS <= nowMs) this.#speakFrame();
    this.#flush();
    if (socket.readyState !== WebSocket.OPEN) return;
    const frameDueMs = this.#ending ? Number.POSITIVE_INFINITY : (this.#frames + 1) * FRAME_MS;
    const nextMs = Math.min(frameDueMs, this.#line.nextDueMs ?? Number.POSITIVE_INFINITY);
    this.#timer = this.#options.clock.after(Math.max(0, nextMs - this.#nowMs()), () => this.#speak(socket));
  }

  async #speakFast(): Promise<void> {
    while (!this.#ending) {
      this.#speakFrame();
      this.#flush();
      if (this.#frames % FRAMES_PER_TURN === 0) await setImmediate();
      await this.#bufferFreed;
    }
  }

  /** The 20 ms of every track that have just passed, and the keys pressed in them. */
  #speakFrame(): void {
    const atMs = this.#frames * FRAME_MS;
    const { dropAtMs = Number.POSITIVE_INFINITY, tracks } = this.#options;
    if (atMs >= dropAtMs) {
      this.drop();
      return;
    }
    if (this.#frames >= this.#totalFrames) {
      this.hangup();
      return;
    }
    this.#frames += 1;
    const endMs = atMs + FRAME_MS;
    for (const track of this.#stream.tracks) {
      const message = this.#writer.media(track, encodeFrame(tracks[track], atMs), atMs);
      this.#line.putMedia(track, message, endMs);
    }
    while (this.#digits[0] !== undefined && this.#digits[0].atMs < endMs) {
      this.#line.put(this.#writer.dtmf(this.#digits.shift()?.digit ?? ''), endMs);
    }
    for (const name of this.#playback.advance(FRAME_MS)) this.#line.put(this.#writer.mark(name), endMs);
  }

  #say(message: string): void {
    this.#line.put(message, this.#nowMs());
    this.#flush();
  }

  /** Sends what has come through the line; after `stop`, closes. */
  #flush(): void {
    const socket = this.#socket;
    if (socket === null || socket.readyState !== WebSocket.OPEN) return;
    const arrivedBy = this.#options.pace === 'fast' ? Number.POSITIVE_INFINITY : this.#nowMs();
    for (const message of this.#line.take(arrivedBy)) this.#send(socket, message);
    if (this.#ending && this.#line.nextDueMs === null) socket.close(1000);
  }

  #send(socket: WebSocket, message: string): void {
    if (socket.bufferedAmount <= SEND_BUFFER_MAX_BYTES) socket.send(message);
    else if (this.#options.pace === 'fast')
      this.#bufferFreed = new Promise((resolve) => socket.send(message, () => resolve()));
    else this.#warnings.add('31930: the server reads too slowly, messages dropped');
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const message = readServerMessage(data, isBinary, this.#stream);
    switch (message.type) {
      case 'media':
        this.#received.mediaBytes += message.payload.length;
        this.#playback.append(message.payload.length);
        this.#options.onAudio?.(message.payload);
        break;
      case 'mark':
        this.#received.marks += 1;
        this.#tellMarks(this.#playback.mark(message.name));
        break;
      case 'clear':
        this.#received.clears += 1;
        this.#tellMarks(this.#playback.clear());
        this.#options.onClear?.();
        break;
      case 'warning':
        this.#warnings.add(`${message.code}: ${message.what}`);
    }
  }

  #tellMarks(names: readonly string[]): void {
    if (this.#ending) return;
    for (const name of names) this.#say(this.#writer.mark(name));
  }
}

/** The frame of `track` at `atMs` in µ-law; silence where the track is over. */
function encodeFrame(track: Int16Array | undefined, atMs: number): Uint8Array {
  const from = msToSamples(atMs, MULAW_8K.rateHz);
  const samples = track?.subarray(from, from + FRAME_SAMPLES) ?? new Int16Array(0);
  if (samples.length === FRAME_SAMPLES) return encodeG711(samples, MULAW_8K);
  const padded = new Int16Array(FRAME_SAMPLES);
  padded.set(samples);
  return encodeG711(padded, MULAW_8K);
}
