/** Live audio to text for one Deepgram client: `WS /v1/listen`. */

import { createHash } from 'node:crypto';
import type { ListenerSession } from '../../listening/listener-place.ts';
import {
  LISTENING_ENDPOINT_MIN_MS,
  type ListeningEvents,
  ListeningSession,
} from '../../listening/listening-session.ts';
import type { TranscriberEvent } from '../../transcription/live-transcriber.ts';
import { saidText } from './said-text.ts';
import { StreamInput } from './stream-input.ts';
import type { StreamParts } from './stream-parts.ts';
import { StreamSocket } from './stream-socket.ts';
import type { ReadFormat } from './wire/audio-input.ts';
import { type ConfigureMessage, readClientMessage } from './wire/client-messages.ts';
import { ListenAnswers } from './wire/listen-answers.ts';
import type { ListenQuery } from './wire/listen-query.ts';
import { configuredOf, metadataOf, type StreamFacts } from './wire/messages.ts';

/** What a stream works with. */
export interface ListenStreamOptions extends StreamParts {
  readonly query: ListenQuery;
}

/** One client. Its audio is live: like a call's, it has priority over recordings. */
export class ListenStream implements ListenerSession {
  readonly #options: ListenStreamOptions;
  readonly #socket: StreamSocket;
  readonly #input: StreamInput;
  readonly #session: ListeningSession;
  readonly #sha256 = createHash('sha256');
  readonly #created: Date;
  #answers: ListenAnswers;
  #format: ReadFormat;
  #isEnding = false;
  /** Of each Finalize that is not answered: the channel that is to answer; null = all. */
  readonly #finalizing: (number | null)[] = [];

  constructor(options: ListenStreamOptions) {
    const { query, clock, engine, settings, metrics } = options;
    this.#options = options;
    this.#created = clock.wall();
    this.#input = this.#openInput();
    this.#format = this.#input.format;
    this.#answers = this.#openAnswers();
    const { endpointing } = query;
    this.#session = new ListeningSession({
      engine,
      settings,
      clock,
      metrics,
      format: this.#input.format,
      endpointMs: endpointing === null ? undefined : endpointing || (endpointing === 0 ? 0 : null),
      language: query.language ?? undefined,
      hotWords: query.hotWords,
      onPacketsBroken: (packets) => options.onPacketsBroken(packets),
      partials: query.interimResults || (endpointing === false && query.utteranceEndMs !== null),
      wordTimes: true,
      events: this.#events(),
    });
    this.#socket = new StreamSocket({
      ...options,
      mustSend: true,
      areMessagesWhole: query.audio?.encoding === 'opus',
      onAudio: (bytes) => this.#onAudio(bytes),
      onText: (text) => this.#onText(text),
      onOver: () => this.#release(),
    });
  }

  /** Closes the socket with the code for `error`. */
  fail(error: unknown): void {
    this.#socket.fail(error);
  }

  /** The server ends: the last `Results` and `Metadata`, and a close after which clients come again. Never rejects. */
  async finish(): Promise<void> {
    if (this.#isEnding) return;
    await this.#sayLast();
    this.#socket.finishDrained();
  }

  #openInput(): StreamInput {
    const { query, decoders } = this.#options;
    return new StreamInput({
      audio: query.audio,
      multichannel: query.multichannel,
      decoders,
      onAudio: (parts) => this.#hear(parts),
      onBusy: (isBusy) => this.#socket.setBusy(isBusy),
      onFailed: (error) => this.#socket.fail(error),
    });
  }

  #release(): void {
    this.#input.close();
    this.#session.close();
  }

  #events(): ListeningEvents {
    return {
      onEvent: (event, channel, isFlushed) => this.#onEvent(event, channel, isFlushed),
      onFlushed: ({ atMs }) => this.#socket.send(this.#answers.onFlushed(atMs, this.#finalizing.shift() ?? null)),
      onFailed: (error) => this.#socket.fail(error),
      onPausable: (isFull) => this.#setFull(isFull),
    };
  }

  #openAnswers(): ListenAnswers {
    const { query, settings } = this.#options;
    const endpointMs = Math.max(query.endpointing || settings.ENDPOINT_MS, LISTENING_ENDPOINT_MIN_MS);
    return new ListenAnswers({
      facts: this.#facts(),
      interimResults: query.interimResults,
      vadEvents: query.vadEvents,
      endpointMs: query.endpointing === false ? false : endpointMs,
      utteranceEndMs: query.utteranceEndMs,
    });
  }

  #facts(): StreamFacts {
    const { request, query, model } = this.#options;
    return {
      requestId: request.id,
      model: model(),
      channels: this.#input.format.channels,
      isPunctuated: query.isPunctuated,
    };
  }

  /** An empty message is none: the service takes it for an end, and SDKs avoid it. */
  #onAudio(bytes: Uint8Array): void {
    if (this.#isEnding || bytes.length === 0) return;
    this.#sha256.update(bytes);
    this.#input.push(bytes);
  }

  #hear(parts: readonly Uint8Array[]): void {
    const { format } = this.#input;
    if (format !== this.#format) {
      this.#format = format;
      this.#session.setFormat(format);
      this.#answers = this.#openAnswers();
    }
    if (parts.length === 0) return;
    for (const part of parts) this.#session.push(part);
    this.#socket.send(this.#answers.advance(this.#session.examinedMs));
  }

  #setFull(isFull: boolean): void {
    this.#input.setFull(isFull);
    this.#socket.setFull(isFull);
  }

  #onText(text: string): void {
    const message = readClientMessage(text);
    if (this.#isEnding) return;
    if (message.type === 'Finalize') this.#finalize(message.channel);
    else if (message.type === 'CloseStream') void this.#end();
    else if (message.type === 'Configure') this.#configure(message);
    else if (message.type === 'other') this.#options.passedOver.note([message.name]);
  }

  #finalize(channel: number | null): void {
    // The header of a file may still come, which the session has to know first.
    if (this.#session.receivedMs === 0) {
      this.#socket.send(this.#answers.onFlushed(0, channel));
      return;
    }
    this.#finalizing.push(channel);
    this.#session.flush();
  }

  #configure(message: ConfigureMessage): void {
    if (message.refused.length === 0 && message.hotWords !== null) this.#session.setHotWords(message.hotWords);
    this.#socket.send([configuredOf(message, this.#facts())]);
  }

  async #end(): Promise<void> {
    await this.#sayLast();
    this.#socket.finish();
  }

  async #sayLast(): Promise<void> {
    this.#isEnding = true;
    await this.#input.end().catch((error: unknown) => this.#socket.fail(error));
    await this.#session.end();
    const created = this.#created.toISOString();
    const metadata = { sha256: this.#sha256.digest('hex'), created, durationMs: this.#session.receivedMs };
    this.#socket.send([...this.#answers.end(), metadataOf(metadata, this.#facts())]);
  }

  #onEvent(event: TranscriberEvent, channel: number, isFlushed: boolean): void {
    if (event.type === 'speech.started') this.#socket.send(this.#answers.onSpeechStarted(channel, event.atMs));
    else if (event.type === 'speech.stopped') this.#answers.onSpeechStopped(channel, event.atMs);
    else if (event.type === 'caption') this.#socket.send(this.#answers.onSaid(channel, saidText(event), isFlushed));
  }
}
