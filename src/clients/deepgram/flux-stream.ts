/** Live audio as turns of one speaker for a Deepgram client: `WS /v2/listen` ("Flux"). */
import type { ListenerSession } from '../../listening/listener-place.ts';
import { ListeningSession } from '../../listening/listening-session.ts';
import type { TranscriberEvent, TurnListener } from '../../transcription/live-transcriber.ts';
import { saidText } from './said-text.ts';
import { StreamInput } from './stream-input.ts';
import type { StreamParts } from './stream-parts.ts';
import { StreamSocket } from './stream-socket.ts';
import type { ReadFormat } from './wire/audio-input.ts';
import { readClientMessage } from './wire/client-messages.ts';
import { FluxAnswers } from './wire/flux-answers.ts';
import type { FluxQuery } from './wire/listen-query.ts';
import { configuredOf } from './wire/messages.ts';

/** What a stream works with. */
export interface FluxStreamOptions extends StreamParts {
  readonly query: FluxQuery;
}

/** What ends a turn where the client says nothing of it. */
const THRESHOLD = 0.7;

/** Turns are always wanted, and any answer may come. */
const TURNS: TurnListener = Object.freeze({
  isWanted: () => true,
  expected: () => null,
  onEnded: () => undefined,
  onContinued: () => undefined,
  onAnswer: () => undefined,
});

/** One client. Its audio is live: like a call's, it has priority over recordings. */
export class FluxStream implements ListenerSession {
  readonly #options: FluxStreamOptions;
  readonly #socket: StreamSocket;
  readonly #input: StreamInput;
  readonly #session: ListeningSession;
  readonly #answers: FluxAnswers;
  #format: ReadFormat;
  /** Turns that the client has ended and that have not been told. */
  #forced = 0;
  #isEnding = false;

  constructor(options: FluxStreamOptions) {
    const { query, request, clock, engine, settings, metrics } = options;
    this.#options = options;
    this.#input = this.#openInput();
    this.#format = this.#input.format;
    this.#answers = new FluxAnswers({
      requestId: request.id,
      eagerThreshold: query.eagerThreshold,
      threshold: query.threshold ?? THRESHOLD,
      isMultilingual: query.isMultilingual,
    });
    this.#session = new ListeningSession({
      engine,
      settings: { ...settings, TURN_HOLD_MS: Math.min(settings.TURN_HOLD_MS, query.timeoutMs) },
      clock,
      metrics,
      format: this.#input.format,
      language: query.language ?? undefined,
      hotWords: query.hotWords,
      onPacketsBroken: (packets) => options.onPacketsBroken(packets),
      turns: TURNS,
      events: {
        onEvent: (event) => this.#onEvent(event),
        onPaused: ({ utterance, ...paused }) =>
          this.#socket.send(this.#answers.onPaused(saidText({ ...paused, final: false }), utterance)),
        onResumed: () => this.#socket.send(this.#answers.onResumed()),
        onFlushed: () => this.#onFlushed(),
        onFailed: (error) => this.#socket.fail(error),
        onPausable: (isFull) => this.#setFull(isFull),
      },
    });
    this.#socket = new StreamSocket({
      ...options,
      mustSend: true,
      areMessagesWhole: query.audio?.encoding === 'opus',
      onAudio: (bytes) => this.#onAudio(bytes),
      onText: (text) => this.#onText(text),
      onOver: () => this.#release(),
    });
    this.#socket.send([this.#answers.open()]);
  }

  /** Closes the socket with the code for `error`. */
  fail(error: unknown): void {
    this.#socket.fail(error);
  }

  /** The server ends: the end of the last turn, and a close after which clients come again. Never rejects. */
  async finish(): Promise<void> {
    if (this.#isEnding) return;
    await this.#sayLast();
    this.#socket.finishDrained();
  }

  #onAudio(bytes: Uint8Array): void {
    if (this.#isEnding || bytes.length === 0) return;
    this.#input.push(bytes);
  }

  #openInput(): StreamInput {
    const { query, decoders } = this.#options;
    return new StreamInput({
      audio: query.audio,
      multichannel: false,
      decoders,
      onAudio: (parts) => this.#hear(parts),
      onBusy: (isBusy) => this.#socket.setBusy(isBusy),
      onFailed: (error) => this.#socket.fail(error),
    });
  }

  #hear(parts: readonly Uint8Array[]): void {
    const { format } = this.#input;
    if (format !== this.#format) {
      this.#format = format;
      this.#session.setFormat(format);
    }
    for (const part of parts) this.#session.push(part);
  }

  #setFull(isFull: boolean): void {
    this.#input.setFull(isFull);
    this.#socket.setFull(isFull);
  }

  #release(): void {
    this.#input.close();
    this.#session.close();
  }

  #onText(text: string): void {
    const message = readClientMessage(text);
    if (this.#isEnding) return;
    if (message.type === 'CloseStream') void this.#end();
    else if (message.type === 'ForceEndTurn') this.#endTurn();
    else if (message.type === 'Configure') {
      const { refused, eagerThreshold, hotWords } = message;
      if (refused.length === 0 && eagerThreshold !== null) this.#answers.setEagerThreshold(eagerThreshold);
      if (refused.length === 0 && hotWords !== null) this.#session.setHotWords(hotWords);
      this.#socket.send([configuredOf(message, { requestId: this.#options.request.id })]);
    } else if (message.type === 'other') this.#options.passedOver.note([message.name]);
  }

  /** On what was heard so far. Without sound there is no turn, and the header of a file may still come. */
  #endTurn(): void {
    if (this.#session.receivedMs === 0) return;
    this.#forced++;
    this.#session.flush();
  }

  #onFlushed(): void {
    this.#endTurnAt();
    this.#forced--;
  }

  #endTurnAt(last?: number): void {
    this.#socket.send(this.#answers.onTurnEnded(last, this.#forced > 0 ? 'manual' : 'model'));
  }

  async #end(): Promise<void> {
    await this.#sayLast();
    this.#socket.finish();
  }

  async #sayLast(): Promise<void> {
    this.#isEnding = true;
    await this.#input.end().catch((error: unknown) => this.#socket.fail(error));
    await this.#session.end();
    this.#socket.send(this.#answers.onTurnEnded());
  }

  #onEvent(event: TranscriberEvent): void {
    if (event.type === 'caption') this.#socket.send(this.#answers.onSaid(saidText(event), event.utterance));
    else if (event.type === 'turn.ended') this.#endTurnAt(event.last);
  }
}
