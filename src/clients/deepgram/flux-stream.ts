/** Live audio as turns of one speaker for a Deepgram client: `WS /v2/listen` ("Flux"). */
import type { ListenerSession } from '../../listening/listener-place.ts';
import { ListeningSession } from '../../listening/listening-session.ts';
import type { TranscriberEvent, TurnListener } from '../../transcription/live-transcriber.ts';
import { saidText } from './said-text.ts';
import type { StreamParts } from './stream-parts.ts';
import { StreamSocket } from './stream-socket.ts';
import { AudioInput } from './wire/audio-input.ts';
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
  readonly #input: AudioInput;
  readonly #session: ListeningSession;
  readonly #answers: FluxAnswers;
  #isEnding = false;

  constructor(options: FluxStreamOptions) {
    const { query, request, clock, engine, settings, metrics } = options;
    this.#options = options;
    this.#input = new AudioInput(query.audio, false);
    this.#answers = new FluxAnswers({
      requestId: request.id,
      eagerThreshold: query.eagerThreshold,
      threshold: query.threshold ?? THRESHOLD,
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
        onFlushed: () => undefined,
        onFailed: (error) => this.#socket.fail(error),
        onPausable: (isFull) => this.#socket.setFull(isFull),
      },
    });
    this.#socket = new StreamSocket({
      ...options,
      mustSend: true,
      areMessagesWhole: query.audio?.encoding === 'opus',
      onAudio: (bytes) => this.#onAudio(bytes),
      onText: (text) => this.#onText(text),
      onOver: () => this.#session.close(),
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
    const { format } = this.#input;
    const audio = this.#input.push(bytes);
    if (this.#input.format !== format) this.#session.setFormat(this.#input.format);
    for (const each of audio) this.#session.push(each);
  }

  #onText(text: string): void {
    const message = readClientMessage(text);
    if (this.#isEnding) return;
    if (message.type === 'CloseStream') void this.#end();
    else if (message.type === 'Configure') {
      const { refused, eagerThreshold, hotWords } = message;
      if (refused.length === 0 && eagerThreshold !== null) this.#answers.setEagerThreshold(eagerThreshold);
      if (refused.length === 0 && hotWords !== null) this.#session.setHotWords(hotWords);
      this.#socket.send([configuredOf(message, { requestId: this.#options.request.id })]);
    } else if (message.type === 'other') this.#options.passedOver.note([message.name]);
  }

  async #end(): Promise<void> {
    await this.#sayLast();
    this.#socket.finish();
  }

  async #sayLast(): Promise<void> {
    this.#isEnding = true;
    await this.#session.end();
    this.#socket.send(this.#answers.onTurnEnded());
  }

  #onEvent(event: TranscriberEvent): void {
    if (event.type === 'caption') this.#socket.send(this.#answers.onSaid(saidText(event), event.utterance));
    else if (event.type === 'turn.ended') this.#socket.send(this.#answers.onTurnEnded(event.last));
  }
}
