/** What one call says, redacted: its streams, what was asked for in it, and texts that nobody speaks. */
import type {
  CallEndedEvent,
  CaptionEvent,
  FeedEvent,
  HintEvent,
  RevisionEvent,
  SpokenEvent,
} from '../../calls/feed/events.ts';
import { analyse } from './analyse.ts';
import { CueMemory, type Side } from './cue-memory.ts';
import type { Cue } from './cues.ts';
import { maskText } from './finding.ts';
import { KeyRuns } from './key-runs.ts';
import type { OwnPatterns } from './own-patterns.ts';
import { SpeakerText } from './speaker-text.ts';

/** The streams of one call and what connects them. */
export class CallRedactor {
  readonly patterns: OwnPatterns;
  /** What is heard on each side. */
  readonly heard: Readonly<Record<Side, SpeakerText>>;
  /** What we say. */
  readonly spoken: SpeakerText;
  readonly keys = new KeyRuns();
  readonly #cues = new CueMemory();

  /** @param holdsSpoken whether what we say is held, too, until a number is certain */
  constructor(patterns: OwnPatterns, holdsSpoken: boolean) {
    this.patterns = patterns;
    this.heard = { inbound: new SpeakerText(patterns, true), outbound: new SpeakerText(patterns, true) };
    this.spoken = new SpeakerText(patterns, holdsSpoken);
  }

  /** Something is masked that may be given back. */
  get isHolding(): boolean {
    const { inbound, outbound } = this.heard;
    return inbound.isHolding || outbound.isHolding || this.spoken.isHolding || this.keys.isHolding;
  }

  /** What the caller or the other side is expected to say; null = nothing. */
  expectedOf(side: Side, nowMs: number): Cue | null {
    return this.#cues.expectedOf(side, nowMs);
  }

  /** `side` said `text`: what it asks for is expected from now on. Call after the text itself is redacted. */
  noteSaid(side: Side, text: string, nowMs: number): void {
    this.#cues.note(side, text, nowMs);
  }
}

/** `text` by itself, redacted. `cue` = what number was asked for; null = none. */
export function maskAlone(text: string, patterns: OwnPatterns, cue: Cue | null = null): string {
  const { findings } = analyse([text], { cue, patterns });
  return maskText(
    text,
    findings.flatMap(({ label, spans }) => spans.map(({ from, to }) => ({ from, to, label }))),
  );
}

/** Texts that people and programs write: notes, marks, outcomes, hints, what an app hands over. */
export function maskWritten(event: FeedEvent, patterns: OwnPatterns): FeedEvent {
  const mask = (text: string): string => maskAlone(text, patterns);
  switch (event.type) {
    case 'note':
      return { ...event, text: mask(event.text) };
    case 'mark':
      return { ...event, label: mask(event.label) };
    case 'call.updated': {
      const outcome = event.outcome === null ? null : mask(event.outcome);
      return { ...event, outcome, tags: event.tags.map(mask) };
    }
    case 'hint':
      return maskHint(event, mask);
    case 'flow.ended':
      return { ...event, reason: event.reason === null ? null : mask(event.reason) };
    case 'call.ended':
      return maskHandoff(event, mask);
    default:
      return event;
  }
}

function maskHint(event: HintEvent, mask: (text: string) => string): HintEvent {
  const words = event.words === null ? null : mask(event.words);
  return { ...event, title: mask(event.title), text: mask(event.text), words };
}

function maskHandoff(event: CallEndedEvent, mask: (text: string) => string): CallEndedEvent {
  return { ...event, handoffData: event.handoffData === null ? null : mask(event.handoffData) };
}

/** A final caption or a revision that reads `text`. `stable` = what its partials promised. */
export function withText<Event extends CaptionEvent | RevisionEvent>(event: Event, text: string, stable = text): Event {
  if (event.type === 'revision') return { ...event, text };
  return { ...event, stable: text.startsWith(stable) ? text : stable, tail: '', text };
}

/** `event` reading `text`, with the part of it that was heard. */
export function withSpokenText(event: SpokenEvent, text: string): SpokenEvent {
  return { ...event, text, heardText: heardPart(event, text) };
}

/** The masked text up to where the caller heard the original: a mask that was begun is heard whole. */
function heardPart({ text: original, heardText }: SpokenEvent, masked: string): string {
  if (heardText === original) return masked;
  if (masked.startsWith(heardText)) return heardText;
  const rest = original.slice(heardText.length);
  for (let length = rest.length; length > 0; length--) {
    const end = rest.slice(rest.length - length);
    if (masked.endsWith(end)) return masked.slice(0, masked.length - length);
  }
  return masked;
}
