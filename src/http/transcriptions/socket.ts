/** Live audio to text over the WebSocket of the Qwen3-ASR server: samples in as binary messages, orders as texts, running text out. */
import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { ENGINE_RATE_HZ } from '../../../engine/contract.ts';
import { pcm16ToSamples } from '../../audio/pcm.ts';
import { UnreadTime } from '../../calls/unread-time.ts';
import type { Clock, Timer } from '../../clock.ts';
import { TrunklineError } from '../../errors.ts';
import type { Engine } from '../../link/engine.ts';
import type { Settings } from '../../settings.ts';
import { Ear, type EarMetrics, type EarSettings } from '../../transcription/ear.ts';
import { samplesToMs } from '../../units.ts';
import type { Failures } from '../errors.ts';

/** What the socket says of itself; nothing here waits for a buffer of this size. */
const BUFFER_BYTES = 14_400;
/** Audio that may wait for the engine before the socket is read no further. */
const BACKLOG_MAX_MS = 5000;
/** Without voice detection only an order or the longest utterance ends what is being said. */
const NO_ENDPOINT_MS = 600_000;

const order = z.discriminatedUnion('action', [
  z.object({ action: z.literal('flush') }),
  z.object({ action: z.literal('reset') }),
  z.object({ action: z.literal('config'), language: z.string().optional(), use_server_vad: z.boolean().optional() }),
]);

/** What a socket is made of. */
export interface TranscribeSocketOptions {
  readonly socket: WebSocket;
  readonly engine: Engine;
  readonly settings: EarSettings & Pick<Settings, 'MEDIA_TIMEOUT_MS'>;
  readonly clock: Clock;
  readonly failures: Failures;
  readonly metrics: EarMetrics;
  readonly useServerVad: boolean;
}

/** One speaker. Its audio is live: it goes before recordings as a call's does. */
export class TranscribeSocket {
  readonly #options: TranscribeSocketOptions;
  #useServerVad: boolean;
  #language = 'auto';
  #finals = 0;
  #ear: Ear;
  readonly #unread: UnreadTime;
  #heardMs = 0;
  /** The first byte of a sample whose second one has not come. */
  #rest: Uint8Array = new Uint8Array(0);
  #idle: Timer | null = null;

  constructor(options: TranscribeSocketOptions) {
    this.#options = options;
    this.#useServerVad = options.useServerVad;
    this.#unread = new UnreadTime(options.clock);
    this.#ear = this.#openEar();
  }

  /** Says what it takes and listens. */
  open(): void {
    const { socket, failures, settings } = this.#options;
    socket.on('message', (data, isBinary) => {
      this.#awaitMore();
      try {
        if (isBinary) this.#hear(data);
        else this.#obey(data.toString());
      } catch (error) {
        failures.close(error, socket);
      }
    });
    socket.once('close', () => {
      this.#idle?.cancel();
      this.#ear.close();
    });
    const audio = { sample_rate: ENGINE_RATE_HZ, format: 'pcm_s16le', buffer_size: BUFFER_BYTES };
    this.#send({ status: 'connected', ...audio, window_max_s: settings.MAX_UTTERANCE_MS / 1000, use_server_vad: this.#useServerVad });
    this.#awaitMore();
  }

  #hear(data: RawData): void {
    const bytes = Buffer.concat([this.#rest, ...[data].flat().map((part) => new Uint8Array(part as Buffer))]);
    this.#rest = bytes.subarray(bytes.length - (bytes.length % 2));
    const samples = pcm16ToSamples(bytes);
    this.#heardMs += samplesToMs(samples.length, ENGINE_RATE_HZ);
    this.#ear.push(samples, this.#unread.arrivedAtMs(this.#heardMs));
    if (this.#ear.backlogMs > BACKLOG_MAX_MS) this.#pause();
  }

  #pause(): void {
    this.#unread.pause();
    this.#options.socket.pause();
  }

  #resume(): void {
    this.#unread.resume();
    this.#options.socket.resume();
  }

  #obey(text: string): void {
    const parsed = order.safeParse(parseJson(text));
    if (!parsed.success) throw new TrunklineError('message_malformed', 'expected {"action":"flush"}, "reset" or "config"');
    if (parsed.data.action === 'flush') void this.#flush();
    else if (parsed.data.action === 'reset') this.#begin().close();
    else this.#configure(parsed.data.language ?? this.#language, parsed.data.use_server_vad ?? this.#useServerVad);
  }

  /** Ends what is being said; what comes from now on is heard as something new. Where nothing was said, the final is empty. */
  async #flush(): Promise<void> {
    const finalsBefore = this.#finals;
    await this.#begin().end();
    if (this.#finals === finalsBefore) this.#send({ text: '', is_partial: false, is_final: true });
  }

  #configure(language: string, useServerVad: boolean): void {
    this.#language = language;
    if (useServerVad !== this.#useServerVad) {
      this.#useServerVad = useServerVad;
      void this.#begin().end();
    }
    this.#send({ status: 'configured', language, use_server_vad: useServerVad });
  }

  /** Listens with a new ear and returns the old one. */
  #begin(): Ear {
    const ear = this.#ear;
    this.#ear = this.#openEar();
    this.#rest = new Uint8Array(0);
    return ear;
  }

  #openEar(): Ear {
    const { engine, clock, metrics, settings } = this.#options;
    const ear = new Ear({
      ...{ engine, clock, metrics },
      settings: this.#useServerVad ? settings : { ...settings, ENDPOINT_MS: NO_ENDPOINT_MS },
      originMs: 0,
      emit: (event) => {
        if (event.type !== 'caption') return;
        if (event.final) this.#finals++;
        this.#send({ text: event.text, is_partial: !event.final, is_final: event.final });
      },
    });
    ear.onDrained(() => this.#resume());
    return ear;
  }

  #send(message: unknown): void {
    this.#options.socket.send(JSON.stringify(message));
  }

  #awaitMore(): void {
    const { clock, settings, failures, socket } = this.#options;
    this.#idle?.cancel();
    const timeoutMs = settings.MEDIA_TIMEOUT_MS;
    this.#idle = clock.after(
      timeoutMs,
      () => failures.close(new TrunklineError('media_timeout', `nothing came for ${timeoutMs} ms`), socket),
      true,
    );
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
