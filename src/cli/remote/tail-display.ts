/** Shows the captions of many calls on a terminal: partial ones change in place, final ones stay. */
import type { CallNames } from '../../calls/call-names.ts';
import type { CaptionEvent, FeedEvent } from '../../calls/feed/events.ts';
import type { Track } from '../../protocols/dialect.ts';
import { SPEAKERS, shortTime } from '../caption-display.ts';
import { printable } from '../printable.ts';
import type { LiveLine, Output } from '../terminal.ts';
import { type EventText, textOfEvent } from './event-text.ts';

const SPEAKER_CHARS = 12;
/** The end of an id tells calls apart well enough. */
const ID_CHARS = 6;
/** More would leave the screen, where they cannot be changed any more. */
const LIVE_LINES_MAX = 8;

/** One reader's screen. */
export class TailDisplay {
  readonly #out: Output;
  readonly #isOne: boolean;
  readonly #names = new Map<string, CallNames>();
  /** By call and track, the latest last. */
  readonly #speaking = new Map<string, LiveLine & { readonly callId: string }>();

  /** `isOne` = all events are of one call, which need not be said on each line. */
  constructor(out: Output, { isOne }: { readonly isOne: boolean }) {
    this.#out = out;
    this.#isOne = isOne;
  }

  /** A call that goes on, as one line that stays. */
  introduce(callId: string, names: CallNames, line: string): void {
    this.#names.set(callId, names);
    this.#out.line(this.#out.bold(`${this.#tag(callId)}${printable(line)}`));
  }

  show(event: FeedEvent): void {
    if (event.type === 'caption') this.#noteCaption(event);
    if (event.type === 'call.ended') this.#silence(event.callId);
    const line = textOfEvent(event);
    if (line !== null) {
      const text = this.#head(event.callId, line) + printable(line.text);
      this.#out.line(event.type === 'revision' ? this.#out.dim(text) : text);
    }
    if (event.type === 'call.ended') this.#names.delete(event.callId);
  }

  /** Removes the live lines. */
  end(): void {
    this.#speaking.clear();
    this.#out.live([]);
  }

  #noteCaption(caption: CaptionEvent): void {
    const { callId, track, startMs, stable, tail, final } = caption;
    const key = `${callId} ${track}`;
    this.#speaking.delete(key);
    if (!final) {
      const head = this.#head(callId, { atMs: startMs, speaker: track, text: '' });
      this.#speaking.set(key, { callId, head, text: printable(stable + tail), dimFrom: printable(stable).length });
    }
    this.#draw();
  }

  #silence(callId: string): void {
    for (const [key, line] of this.#speaking) if (line.callId === callId) this.#speaking.delete(key);
    this.#draw();
  }

  #draw(): void {
    this.#out.live([...this.#speaking.values()].slice(-LIVE_LINES_MAX));
  }

  #head(callId: string, { atMs, speaker }: EventText): string {
    const name = speaker === 'inbound' || speaker === 'outbound' ? this.#nameOf(callId, speaker) : speaker;
    return `${this.#tag(callId)}${(atMs === null ? '' : shortTime(atMs)).padStart(6)}  ${name.padEnd(SPEAKER_CHARS)}  `;
  }

  #nameOf(callId: string, track: Track): string {
    return printable(this.#names.get(callId)?.[track] ?? SPEAKERS[track]).slice(0, SPEAKER_CHARS);
  }

  #tag(callId: string): string {
    return this.#isOne ? '' : `…${printable(callId).slice(-ID_CHARS).padEnd(ID_CHARS)}  `;
  }
}
