/** What a caller says in a message, as the feed tells it: final captions and better texts of them. */
import type { Feed } from '../../calls/feed/feed.ts';
import { pause } from '../../foundation/abortable-pause.ts';
import type { Clock } from '../../foundation/clock.ts';

/** How long the last caption and its better texts may take. */
const SETTLE_MS = 5000;
/** Captions may begin a little before the sound of what they are of. */
const EARLY_MS = 300;
const UTTERANCES_MAX = 500;

interface MessageTextOptions {
  readonly feed: Pick<Feed, 'subscribeOwn'>;
  readonly callId: string;
  /** In ms of the call. */
  readonly startMs: number;
}

export class MessageText {
  readonly #texts = new Map<number, { text: string; readonly startMs: number }>();
  readonly #startMs: number;
  readonly #unsubscribe: () => void;
  readonly #over = new AbortController();

  /** Listens at once. */
  constructor({ feed, callId, startMs }: MessageTextOptions) {
    this.#startMs = startMs;
    this.#unsubscribe = feed.subscribeOwn({ callId }, ({ event }) => {
      if (event.type === 'call.ended') this.#over.abort();
      else if (event.type === 'caption' && event.final && event.track === 'inbound') this.#add(event);
      else if (event.type === 'revision' && event.track === 'inbound') this.#revise(event.utterance, event.text);
    });
  }

  /** The words up to `endMs`, when no more come: when the call has ended, or after five seconds. Closes. */
  async settled(endMs: number, clock: Clock): Promise<string> {
    await pause(clock, SETTLE_MS, this.#over.signal);
    this.close();
    const said = [...this.#texts].sort(([one], [other]) => one - other).map(([, utterance]) => utterance);
    return said
      .filter(({ startMs, text }) => startMs < endMs && text !== '')
      .map(({ text }) => text)
      .join(' ');
  }

  close(): void {
    this.#unsubscribe();
  }

  #add({ utterance, text, startMs }: { utterance: number; text: string; startMs: number }): void {
    if (startMs < this.#startMs - EARLY_MS || this.#texts.size >= UTTERANCES_MAX) return;
    this.#texts.set(utterance, { text, startMs });
  }

  #revise(utterance: number, text: string): void {
    const known = this.#texts.get(utterance);
    if (known !== undefined) known.text = text;
  }
}
