/** What one call tells the feed. */
import type { Log } from '../../foundation/log/log.ts';
import type { CallStart, CallTransfer, Track } from '../../protocols/dialect.ts';
import type { Revision, SpeechEvent } from '../../transcription/live-transcriber.ts';
import type { AnswerNews } from '../answered/answered-by.ts';
import type { CallParameters } from '../call-parameters.ts';
import type { CallPhase } from '../call-phase.ts';
import type { LagChange } from '../inbound/lag.ts';
import type { LanguageNews } from '../language/call-languages.ts';
import {
  type CallAssignedEvent,
  type EndReason,
  type FlowEndedEvent,
  type FlowInputEvent,
  type FlowMessageEvent,
  type FlowStartedEvent,
  type FlowStepEvent,
  type GapEvent,
  SPOKEN_TEXT_MAX_CHARS,
  type SpokenEvent,
} from './events.ts';
import type { Feed } from './feed.ts';

/** Gaps of one call that have a line in the log each; the rest are in its feed and its transcript. */
const GAPS_LOGGED_MAX = 20;

interface CallFeedOptions {
  readonly callId: string;
  readonly feed: Pick<Feed, 'publish'>;
  readonly log: Log;
  /** How long the call has lasted by its sound. */
  nowMs(): number;
}

/** Of something that was said, when it was heard: null = it was never begun. */
type Spoken = Pick<SpokenEvent, 'utterance' | 'text' | 'heardText' | 'interrupted'> & {
  readonly startMs: number | null;
  readonly endMs: number | null;
};

type News<Event> = Event extends unknown ? Omit<Event, 'callId' | 'atMs'> : never;

/** What a flow tells of itself. */
export type FlowNews = News<FlowStartedEvent | FlowStepEvent | FlowInputEvent | FlowMessageEvent | FlowEndedEvent>;

export class CallFeed {
  readonly #options: CallFeedOptions;
  #gaps = 0;

  constructor(options: CallFeedOptions) {
    this.#options = options;
  }

  publishStarted(start: CallStart, { names, agent, queue }: CallParameters, more: { app: string | null; at: Date }) {
    const { callId, feed } = this.#options;
    const { carrier, from, to, tracks, references } = start;
    const startedAt = more.at.toISOString();
    const about = { carrier, from, to, startedAt, tracks, names, agent, queue, app: more.app };
    feed.publish({ type: 'call.started', callId, ...about, ...(references && { references }) });
  }

  publishEnded(reason: EndReason, durationMs: number, handoffData: string | null): void {
    const { callId, feed } = this.#options;
    feed.publish({ type: 'call.ended', callId, reason, durationMs, handoffData });
  }

  publishDtmf(digit: string): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type: 'dtmf', callId, digit, atMs: nowMs() });
  }

  publishSpoken({ utterance, text, heardText, interrupted, startMs, endMs }: Spoken): void {
    const { callId, feed, nowMs } = this.#options;
    const atMs = nowMs();
    feed.publish({
      type: 'spoken',
      callId,
      utterance,
      text: text.slice(0, SPOKEN_TEXT_MAX_CHARS),
      heardText: heardText.slice(0, SPOKEN_TEXT_MAX_CHARS),
      interrupted,
      startMs: startMs ?? atMs,
      endMs: endMs ?? atMs,
      atMs,
    });
  }

  publishSpeech(track: Track, event: SpeechEvent): void {
    const { callId, feed } = this.#options;
    if (event.type !== 'caption') {
      feed.publish({ type: event.type, callId, track, atMs: event.atMs });
      return;
    }
    const { type: _type, ...caption } = event;
    feed.publish({ type: 'caption', callId, track, ...caption });
  }

  publishRevision(track: Track, { utterance, version, text, startMs, endMs }: Revision): void {
    const { callId, feed } = this.#options;
    feed.publish({ type: 'revision', callId, track, utterance, version, text, startMs, endMs });
  }

  publishLanguage({ track, language, by, refused }: LanguageNews): void {
    const { callId, feed, nowMs } = this.#options;
    const news = refused === undefined ? {} : { refused };
    feed.publish({ type: 'language', callId, track, language, atMs: nowMs(), by, ...news });
  }

  publishHeard(track: Track, { language, atMs }: { language: string; atMs: number }): void {
    const { callId, feed } = this.#options;
    feed.publish({ type: 'language', callId, track, language, atMs, by: 'heard' });
  }

  publishGap(track: Track, { startMs, endMs, reason }: Pick<GapEvent, 'startMs' | 'endMs' | 'reason'>): void {
    const { callId, feed, log } = this.#options;
    this.#gaps++;
    if (this.#gaps <= GAPS_LOGGED_MAX) {
      const message = reason === 'media' ? 'audio was lost on its way here' : 'a stretch has no final caption';
      log.warn({ track, startMs, endMs, reason }, message);
    }
    feed.publish({ type: 'gap', callId, track, startMs, endMs, reason });
  }

  publishState(state: Exclude<CallPhase, 'ringing'>): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type: 'call.state', callId, state, atMs: nowMs() });
  }

  publishConnection(state: 'lost' | 'back'): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type: `app.${state}`, callId, atMs: nowMs() });
  }

  publishTransferred({ by, from, to, kind }: CallTransfer): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type: 'call.transferred', callId, by, from, to, kind, atMs: nowMs() });
  }

  publishAssigned(assigned: Omit<CallAssignedEvent, 'type' | 'callId' | 'atMs'>): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type: 'call.assigned', callId, ...assigned, atMs: nowMs() });
  }

  publishAnswer(news: AnswerNews): void {
    const { callId, feed, nowMs } = this.#options;
    const atMs = nowMs();
    if (news.type === 'fax') feed.publish({ type: 'fax', callId, track: 'inbound', tone: news.tone, atMs });
    else if (news.type === 'beep') feed.publish({ type: 'beep', callId, heard: news.heard, atMs });
    else feed.publish({ type: 'answered', callId, by: news.by, atMs });
  }

  publishMuted(isMuted: boolean, by: string): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type: isMuted ? 'app.muted' : 'app.unmuted', callId, by, atMs: nowMs() });
  }

  publishFlow(news: FlowNews): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ callId, ...news, atMs: nowMs() });
  }

  publishLag(track: Track, { type, lagMs }: LagChange): void {
    const { callId, feed, nowMs } = this.#options;
    feed.publish({ type, callId, track, atMs: nowMs(), lagMs });
  }
}
