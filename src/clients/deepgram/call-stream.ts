/**
 * A live call for a Deepgram client: `WS /v1/listen?call=`. Each of its tracks is a channel. The call's captions are
 * those that all readers of the feed get.
 */
import { createHash } from 'node:crypto';
import type { CallView } from '../../calls/call-view.ts';
import type { FeedEvent } from '../../calls/feed/events.ts';
import type { FeedEntry } from '../../calls/feed/feed.ts';
import type { Timer } from '../../foundation/clock.ts';
import type { CallVisibility } from '../../http/access/call-visibility.ts';
import type { FeedReader, FeedReaders } from '../../http/calls/readers.ts';
import { saidText } from './said-text.ts';
import type { StreamParts } from './stream-parts.ts';
import { StreamSocket } from './stream-socket.ts';
import { type ConfigureMessage, readClientMessage } from './wire/client-messages.ts';
import { ListenAnswers } from './wire/listen-answers.ts';
import type { ListenQuery } from './wire/listen-query.ts';
import { configuredOf, metadataOf, type StreamFacts } from './wire/messages.ts';

/** What a stream works with. */
export interface CallStreamOptions extends Omit<StreamParts, 'engine' | 'metrics' | 'decoders' | 'onPacketsBroken'> {
  readonly settings: StreamParts['settings'] & { readonly ENDPOINT_CAPTIONS_MS: number };
  readonly query: ListenQuery;
  readonly call: CallView;
  readonly readers: Pick<FeedReaders, 'open'>;
  readonly visibility: Pick<CallVisibility, 'readerOf'>;
}

/** How often is looked for silence of which no event tells. */
const LOOK_EVERY_MS = 250;
/** A call that others took for lost may go on within this time: its gateway was cut off and is back. */
const RESUMED_WITHIN_MS = 60_000;

/** One client. It sends no audio, and may be silent for as long as the call lasts. */
export class CallStream {
  readonly #options: CallStreamOptions;
  readonly #socket: StreamSocket;
  readonly #reader: FeedReader;
  readonly #answers: ListenAnswers;
  readonly #timer: Timer;
  readonly #created: Date;
  /** A moment of the call, and when it was on the clock. */
  #latest: { readonly atMs: number; readonly nowMs: number };
  #isAlive = true;
  /** Since when the call counts as lost with its gateway; null = it does not. */
  #lostSinceMs: number | null = null;

  /** @throws TrunklineError `too_many_readers` or `draining` */
  constructor(options: CallStreamOptions) {
    const { query, call, settings, clock, readers, visibility, request, socket } = options;
    this.#options = options;
    this.#created = clock.wall();
    this.#latest = { atMs: call.durationMs, nowMs: clock.nowMs() };
    this.#answers = new ListenAnswers({
      facts: this.#facts(),
      interimResults: query.interimResults,
      vadEvents: query.vadEvents,
      // Whoever began the call has decided which silence ends an utterance of it.
      endpointMs: query.endpointing === false ? false : settings.ENDPOINT_CAPTIONS_MS,
      utteranceEndMs: query.utteranceEndMs,
    });
    this.#socket = new StreamSocket({
      ...options,
      mustSend: false,
      areMessagesWhole: false,
      onAudio: () => undefined,
      onText: (text) => this.#onText(text),
      onOver: () => this.#release(),
    });
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    const { allows, prepare } = visibility.readerOf(request);
    this.#reader = readers.open(
      { callId: call.id, allows, prepare },
      {
        kind: 'websocket',
        get unsentBytes() {
          return socket.bufferedAmount;
        },
        write: (entry, sent) => this.#write(entry, sent),
        tellMissing: () => undefined,
        tellNotice: () => undefined,
        beat: () => this.#beat(),
        cut: () => socket.terminate(),
        close: () => socket.close(1012, 'draining'),
      },
    );
    this.#timer = clock.every(LOOK_EVERY_MS, () => this.#look(), true);
  }

  /** The call is over: all is said. */
  end(): void {
    const sha256 = createHash('sha256').digest('hex');
    const created = this.#created.toISOString();
    const metadata = metadataOf({ sha256, created, durationMs: this.#nowInCallMs() }, this.#facts());
    this.#socket.send([...this.#answers.end(), metadata]);
    this.#socket.finish();
  }

  /** Closes with the code for `error`. */
  fail(error: unknown): void {
    this.#socket.fail(error);
  }

  #facts(): StreamFacts {
    const { request, model, call, query } = this.#options;
    return {
      requestId: request.id,
      model: model(),
      channels: call.tracks.length,
      isPunctuated: query.isPunctuated,
    };
  }

  #nowInCallMs(): number {
    return this.#latest.atMs + this.#options.clock.nowMs() - this.#latest.nowMs;
  }

  #write({ event }: FeedEntry, sent: () => void): void {
    this.#socket.send(this.#messagesOf(event));
    const isLost = event.type === 'call.ended' && event.reason === 'server_lost';
    this.#lostSinceMs = isLost ? this.#options.clock.nowMs() : null;
    if ((event.type === 'call.ended' && !isLost) || event.type === 'call.deleted') this.end();
    sent();
  }

  #look(): void {
    this.#socket.send(this.#answers.advance(this.#nowInCallMs()));
    const lostMs = this.#lostSinceMs === null ? 0 : this.#options.clock.nowMs() - this.#lostSinceMs;
    if (lostMs >= RESUMED_WITHIN_MS) this.end();
  }

  #messagesOf(event: FeedEvent): object[] {
    if (!('track' in event) || event.track === null) return [];
    const channel = this.#options.call.tracks.indexOf(event.track);
    if (event.type === 'caption') {
      this.#note(event.endMs);
      // Deepgram has no word for speech behind the caller.
      if (event.background) return [];
      return this.#answers.onSaid(channel, saidText(event));
    }
    if (event.type === 'speech.started' || event.type === 'speech.stopped') this.#note(event.atMs);
    if (event.type === 'speech.started') return this.#answers.onSpeechStarted(channel, event.atMs);
    if (event.type === 'speech.stopped') this.#answers.onSpeechStopped(channel, event.atMs);
    return [];
  }

  #note(atMs: number): void {
    if (atMs > this.#nowInCallMs()) this.#latest = { atMs, nowMs: this.#options.clock.nowMs() };
  }

  #onText(text: string): void {
    const message = readClientMessage(text);
    // A call is not ended by who reads it: its finals come when they come.
    if (message.type === 'Finalize')
      this.#socket.send(this.#answers.onFlushed(Math.round(this.#nowInCallMs()), message.channel));
    else if (message.type === 'CloseStream') this.end();
    else if (message.type === 'Configure') this.#configure(message);
    else if (message.type === 'other') this.#options.passedOver.note([message.name]);
  }

  /** Whoever began the call has said which words are likely in it. */
  #configure({ hotWords, refused }: ConfigureMessage): void {
    const all = hotWords === null ? refused : ['keyterm', ...refused];
    this.#socket.send([configuredOf({ hotWords: null, refused: all }, this.#facts())]);
  }

  #beat(): void {
    const { socket } = this.#options;
    if (!this.#isAlive) {
      socket.terminate();
      return;
    }
    this.#isAlive = false;
    socket.ping();
  }

  #release(): void {
    this.#timer.cancel();
    this.#reader.end();
  }
}
