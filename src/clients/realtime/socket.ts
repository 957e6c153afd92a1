/** One session of OpenAI's Realtime API over a WebSocket. */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Engine } from '../../engine-client/engine.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { IdleWatch } from '../../foundation/idle-watch.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { closeDrained, endNormally } from '../../http/server/drain-codes.ts';
import type { Failures } from '../../http/server/errors.ts';
import type { SpeechContext } from '../../http/speech/send-speech.ts';
import { CommandBudget } from '../../listening/command-budget.ts';
import type { ListenerSession } from '../../listening/listener-place.ts';
import type { ListeningSettings } from '../../listening/listening-session.ts';
import { watchSilence } from '../../listening/silence-watch.ts';
import type { Json } from '../../protocols/json.ts';
import type { TranscriberMetrics } from '../../transcription/live-transcriber.ts';
import type { PassedOver } from '../shared/passed-over.ts';
import type { Brain, BrainEvents } from './brain.ts';
import { RealtimeListener } from './listener.ts';
import { Responder } from './responder.ts';
import { binaryEvent, type ClientEvent, readClientEvent } from './wire/client-events.ts';
import { Conversation, type Item, readItem } from './wire/items.ts';
import {
  EventWriter,
  errorEvent,
  invalidEvent,
  itemEvent,
  itemRetrieved,
  type ServerEvent,
  sessionEvent,
} from './wire/server-events.ts';
import {
  newSessionConfig,
  type SessionConfig,
  type SessionType,
  updateSessionConfig,
  writeBetaSession,
  writeSession,
} from './wire/session-config.ts';
import { Transcripts } from './wire/transcripts.ts';

/** A client without sound to send answers our pings: so many of them in the time after which it counts as gone. */
const PINGS_PER_TIMEOUT = 3;
/** RFC 6455 §7.4: what was to be done is done. Clients do not take it for a failure. */
const CLOSE_NORMAL = 1000;
const ID_BYTES = 12;
/** Changes of the format of sound: behind each one the recogniser begins anew. Later ones change nothing. */
const FORMATS_MAX = 100;

/** The services that sessions use. */
export interface RealtimeServices {
  readonly engine: Engine;
  readonly settings: ListeningSettings &
    Pick<Settings, 'MEDIA_TIMEOUT_MS' | 'SEND_BUFFER_MAX_BYTES' | 'REALTIME_MAX_MS'>;
  readonly clock: Clock;
  readonly metrics: TranscriberMetrics;
  readonly failures: Failures;
  readonly passedOver: PassedOver;
  readonly speech: Pick<SpeechContext, 'service'>;
  /** Opens what answers in a session of type `realtime`; null = nobody does. */
  readonly openBrain: ((session: BrainSession, events: BrainEvents) => Brain) | null;
  readonly log: Pick<Log, 'warn'>;
}

/** The session that a brain is opened for. */
export interface BrainSession {
  readonly id: string;
  readonly model: string;
  readonly newCallId: () => string;
}

/** How a session begins. */
export interface RealtimeStart {
  readonly type: SessionType;
  /** As the address names it; empty = it names none. */
  readonly model: string;
  /** Whether the client speaks the beta version of the API. */
  readonly isBeta: boolean;
  /** What the client's key says of its sessions; null = nothing. */
  readonly session: Json | null;
}

interface RealtimeSocketOptions {
  readonly socket: WebSocket;
  readonly request: FastifyRequest;
  readonly services: RealtimeServices;
  readonly start: RealtimeStart;
}

/** See above. It ends by itself with its socket. */
export class RealtimeSocket implements ListenerSession {
  readonly #options: RealtimeSocketOptions;
  readonly #id = randomBytes(ID_BYTES).toString('hex');
  readonly #writer: EventWriter;
  readonly #conversation = new Conversation();
  readonly #listener: RealtimeListener;
  readonly #responder: Responder;
  readonly #timers: Timer[];
  readonly #idle: Pick<IdleWatch, 'note' | 'close'>;
  readonly #commands: CommandBudget;
  readonly #expiresAtS: number;
  #config: SessionConfig;
  #items = 0;
  #formats = 0;
  #responses = 0;
  /** Events that the system has not taken. */
  #unsent = 0;
  #onSent: (() => void)[] = [];
  /** Nothing is taken from the client any more. */
  #isEnding = false;
  #isOver = false;

  constructor(options: RealtimeSocketOptions) {
    const { services, start, socket } = options;
    const { clock, settings } = services;
    this.#options = options;
    this.#commands = new CommandBudget(clock);
    this.#writer = new EventWriter(this.#id, start.isBeta);
    this.#config = updateSessionConfig(newSessionConfig(start.type, start.model), start.session ?? {});
    this.#expiresAtS = Math.floor((clock.wall().getTime() + settings.REALTIME_MAX_MS) / 1000);
    const transcripts = new Transcripts({
      conversation: this.#conversation,
      newItemId: () => this.#newItemId(),
      send: (event) => this.#send(event),
      onFinished: ({ text }) => this.#onFinished(text),
    });
    this.#responder = this.#openResponder();
    this.#listener = new RealtimeListener(
      {
        ...services,
        transcripts,
        onSpeech: () => this.#onSpeech(),
        onPausable: (isFull) => this.#readOrPause(isFull),
        onFailed: (error) => this.fail(error),
      },
      this.#config,
    );
    this.#idle = watchSilence({
      clock,
      timeoutMs: settings.MEDIA_TIMEOUT_MS,
      onIdle: (error) => this.fail(error),
    });
    this.#timers = [
      clock.every(settings.MEDIA_TIMEOUT_MS / PINGS_PER_TIMEOUT, () => this.#ping(), true),
      clock.after(settings.REALTIME_MAX_MS, () => socket.close(CLOSE_NORMAL, 'session_expired'), true),
    ];
  }

  /** Greets the client and begins to read. */
  open(): void {
    const { socket } = this.#options;
    socket.on('message', (data, isBinary) => this.#read(data, isBinary));
    socket.on('pong', () => this.#idle.note());
    socket.once('close', () => this.#release());
    endNormally(socket);
    this.#tellSession('session.created');
  }

  /** It answers. */
  isBusy(): boolean {
    return this.#responder.isAnswering;
  }

  /** The server ends: what was said gets its text and is not answered, then the socket is closed. Never rejects. */
  async finish(): Promise<void> {
    this.#isEnding = true;
    this.#responder.cancel('client_cancelled');
    await this.#listener.end();
    if (this.#isOver) return;
    this.#release();
    closeDrained(this.#options.socket);
  }

  #read(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#idle.note();
    if (this.#isEnding) return;
    try {
      const event = isBinary ? binaryEvent((data as Buffer).length) : readClientEvent(data.toString());
      if (event.type !== 'append' || event.audio.length === 0) this.#commands.take();
      this.#receive(event);
    } catch (error) {
      this.fail(error);
    }
  }

  #receive(event: ClientEvent): void {
    switch (event.type) {
      case 'append':
        this.#listener.append(event.audio);
        return;
      case 'session.update':
        this.#update(event.session);
        return;
      case 'commit':
        this.#listener.commit();
        return;
      case 'clear':
        this.#listener.clear(() => this.#send({ type: 'input_audio_buffer.cleared' }));
        return;
      case 'invalid':
        this.#send(invalidEvent(event));
        return;
      case 'ignored':
        this.#options.services.passedOver.note([event.what]);
        return;
      case 'item.create':
        this.#createItem(event.item);
        return;
      case 'item.retrieve':
        this.#retrieve(event.itemId);
        return;
      case 'item.delete':
        if (this.#conversation.delete(event.itemId))
          this.#send({ type: 'conversation.item.deleted', item_id: event.itemId });
        return;
      case 'item.truncate':
        this.#responder.truncate(event.itemId, event.audioEndMs);
        return;
      case 'cancel':
        this.#responder.cancel('client_cancelled');
        return;
      case 'response.create':
        // What was committed before has its text first.
        if (this.#answers) this.#listener.inOrder(() => this.#responder.create(event.response));
        return;
      default:
    }
  }

  /** A transcription session answers nobody. */
  get #answers(): boolean {
    return this.#config.type === 'realtime' && !this.#isEnding;
  }

  #openResponder(): Responder {
    const { services, start, socket } = this.#options;
    const { openBrain, speech, clock, log } = services;
    const newCallId = (): string => `call_${this.#id}_${++this.#items}`;
    const session = { id: `sess_${this.#id}`, model: start.model, newCallId };
    return new Responder(
      {
        service: speech.service,
        clock,
        conversation: this.#conversation,
        openBrain: openBrain === null ? null : (events) => openBrain(session, events),
        newItemId: () => this.#newItemId(),
        newResponseId: () => `resp_${this.#id}_${++this.#responses}`,
        send: (event) => this.#send(event),
        sent: () => this.#sent(),
        onEnd: () => socket.close(CLOSE_NORMAL, 'session_ended'),
        onTrouble: (complaint, cause) => log.warn({ complaint, err: cause }, 'a Realtime session got no answer'),
      },
      this.#config.output,
    );
  }

  /** Something was said, or only a noise. */
  #onFinished(text: string): void {
    if (!this.#answers || this.#config.turnDetection?.createResponse !== true) return;
    if (text === '') this.#responder.answerAfterNoise();
    else this.#responder.answerTurn();
  }

  #onSpeech(): void {
    if (this.#answers && this.#config.turnDetection?.interruptResponse === true)
      this.#responder.cancel('turn_detected');
  }

  #update(session: Json): void {
    const wanted = updateSessionConfig(this.#config, session);
    const { inputFormat } = this.#config;
    const isSame =
      wanted.inputFormat.encoding === inputFormat.encoding && wanted.inputFormat.rateHz === inputFormat.rateHz;
    if (!isSame) this.#formats++;
    this.#config = this.#formats > FORMATS_MAX ? { ...wanted, inputFormat } : wanted;
    this.#listener.configure(this.#config);
    if (this.#answers) this.#responder.configure(this.#config.output);
    this.#tellSession('session.updated');
  }

  #createItem(value: Json): void {
    const item = readItem(value, this.#newItemId());
    if (item !== null) this.#addItem(item);
  }

  #addItem(item: Item): void {
    const previousId = this.#conversation.add(item);
    this.#send(itemEvent('added', item, previousId));
    this.#send(itemEvent('done', item, previousId));
  }

  /** Nothing is said of one that is forgotten: an error would end many a client. */
  #retrieve(itemId: string): void {
    const item = this.#conversation.get(itemId);
    if (item !== undefined) this.#send(itemRetrieved(item));
  }

  #tellSession(type: 'session.created' | 'session.updated'): void {
    const write = this.#options.start.isBeta ? writeBetaSession : writeSession;
    this.#send(sessionEvent(type, write(this.#config, { id: `sess_${this.#id}`, expiresAtS: this.#expiresAtS })));
  }

  #newItemId(): string {
    return `item_${this.#id}_${++this.#items}`;
  }

  /** Closes the socket of a client that does not read. */
  #send(event: ServerEvent): void {
    if (this.#isOver) return;
    const { socket, services } = this.#options;
    const text = this.#writer.write(event);
    if (text !== null) this.#write(text);
    if (socket.bufferedAmount <= services.settings.SEND_BUFFER_MAX_BYTES) return;
    this.fail(new TrunklineError('reader_too_slow', 'the client does not read what is sent'));
    socket.terminate();
  }

  #write(text: string): void {
    this.#unsent++;
    this.#options.socket.send(text, () => {
      this.#unsent--;
      if (this.#unsent === 0) for (const resolve of this.#onSent.splice(0)) resolve();
    });
  }

  #sent(): Promise<void> {
    return this.#unsent === 0 ? Promise.resolve() : new Promise((resolve) => this.#onSent.push(resolve));
  }

  /** A socket that is closing is read until the other side closes. */
  #readOrPause(isFull: boolean): void {
    const { socket } = this.#options;
    if (isFull && !this.#isOver) socket.pause();
    else if (socket.isPaused) socket.resume();
  }

  /** While the socket is not read, no pong can come. */
  #ping(): void {
    const { socket } = this.#options;
    if (socket.isPaused) this.#idle.note();
    else socket.ping();
  }

  /** Closes the socket with the code for `error`. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    const { failures } = this.#options.services;
    if (error instanceof TrunklineError && !isOfConnection(error)) this.#send(toErrorEvent(error));
    failures.close(error, this.#options.socket);
    this.#release();
    this.#readOrPause(false);
  }

  #release(): void {
    this.#isOver = true;
    this.#idle.close();
    for (const timer of this.#timers) timer.cancel();
    this.#listener.close();
    this.#responder.close();
  }
}

/** There is nobody to be told. */
function isOfConnection({ code }: TrunklineError): boolean {
  return code === 'media_timeout' || code === 'reader_too_slow';
}

function toErrorEvent(error: TrunklineError): ServerEvent {
  const { code, message, param, type } = error.toBody().error;
  return errorEvent({ type, code, message, param, eventId: null });
}
