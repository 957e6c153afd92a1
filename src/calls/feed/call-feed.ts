/** What one call tells the feed, and the transcript that comes of it. */
import type { Log } from '../../foundation/log/log.ts';
import type { CallStart, Track } from '../../protocols/dialect.ts';
import type { Caption, Revision, SpeechEvent } from '../../transcription/live-transcriber.ts';
import type { LagChange } from '../inbound/lag.ts';
import { type EndReason, type GapEvent, SPOKEN_TEXT_MAX_CHARS, type SpokenEvent } from './events.ts';
import type { Feed } from './feed.ts';
import { FinalCaptions } from './final-captions.ts';
import type { FinalCaption, TranscriptItem } from './transcript.ts';

/** Gaps of one call that have a line in the log each; the rest are in its feed and its transcript. */
const GAPS_LOGGED_MAX = 20;

interface CallFeedOptions {
  readonly callId: string;
  readonly feed: Pick<Feed, 'publish'>;
  readonly log: Log;
  /** How long the call has lasted by its sound. */
  nowMs(): number;
}

export class CallFeed {
  readonly #options: CallFeedOptions;
  readonly #captions = new FinalCaptions();
  #lagMs: number | null = null;

  constructor(options: CallFeedOptions) {
    this.#options = options;
  }

  /** The final captions and gaps so far, in the order in which they came. */
  get transcript(): readonly TranscriptItem[] {
    return this.#captions.kept;
  }

  /** `lagMs` of the last caption; null before the first. */
  get lagMs(): number | null {
    return this.#lagMs;
  }

  /** How many final captions and gaps there were, and how many of them are not kept. */
  get counts(): { readonly finals: number; readonly gaps: number; readonly finalsDropped: number } {
    const { captions, gaps, dropped } = this.#captions;
    return { finals: captions, gaps, finalsDropped: dropped };
  }

  publishStarted({ carrier, from, to, tracks }: CallStart, startedAt: Date): void {
    const { callId, feed } = this.#options;
    feed.publish({ type: 'call.started', callId, carrier, from, to, startedAt: startedAt.toISOString(), tracks });
  }

  publishEnded(reason: EndReason, durationMs: number): void {
    const { callId, feed } = this.#options;
    feed.publish({ type: 'call.ended', callId, reason, durationMs });
  }

  publishDtmf(digit: string): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type: 'dtmf', callId, digit, atMs: nowMs() });
  }

  publishSpoken(spoken: Pick<SpokenEvent, 'utterance' | 'text' | 'heardText' | 'interrupted'>): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({
      type: 'spoken',
      callId,
      utterance: spoken.utterance,
      text: spoken.text.slice(0, SPOKEN_TEXT_MAX_CHARS),
      heardText: spoken.heardText.slice(0, SPOKEN_TEXT_MAX_CHARS),
      interrupted: spoken.interrupted,
      atMs: nowMs(),
    });
  }

  publishSpeech(track: Track, event: SpeechEvent): void {
    const { callId, feed } = this.#options;
    if (event.type !== 'caption') {
      feed.publish({ type: event.type, callId, track, atMs: event.atMs });
      return;
    }
    const { type: _type, ...caption } = event;
    this.#lagMs = caption.lagMs;
    if (caption.final) this.#captions.add(toFinalCaption(track, caption));
    feed.publish({ type: 'caption', callId, track, ...caption });
  }

  publishRevision(track: Track, { utterance, version, text, startMs, endMs }: Revision): void {
    const { callId, feed } = this.#options;
    this.#captions.revise({ kind: 'caption', track, utterance, version, text, startMs, endMs });
    feed.publish({ type: 'revision', callId, track, utterance, version, text, startMs, endMs });
  }

  publishGap(track: Track, { startMs, endMs, reason }: Pick<GapEvent, 'startMs' | 'endMs' | 'reason'>): void {
    const { callId, feed, log } = this.#options;
    this.#captions.addGap({ kind: 'gap', track, startMs, endMs, reason });
    if (this.#captions.gaps <= GAPS_LOGGED_MAX) {
      const message = reason === 'media' ? 'audio was lost on its way here' : 'a stretch has no final caption';
      log.warn({ track, startMs, endMs, reason }, message);
    }
    feed.publish({ type: 'gap', callId, track, startMs, endMs, reason });
  }

  publishLag(track: Track, { type, lagMs }: LagChange): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type, callId, track, atMs: nowMs(), lagMs });
  }
}

function toFinalCaption(track: Track, caption: Omit<Caption, 'type'>): FinalCaption {
  const { utterance, text, startMs, endMs, confidence, lowConfidence, language } = caption;
  return {
    kind: 'caption',
    track,
    utterance,
    text,
    startMs,
    endMs,
    ...(confidence !== undefined && { confidence }),
    ...(lowConfidence && { lowConfidence }),
    ...(language === null && { language }),
  };
}
