/** What the feed tells of a call in which a dialogue is held: the events with their moments. */
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import type { Track } from '../../src/protocols/dialect.ts';
import type { Step } from './dialogues.ts';
import { between, type Random } from './people.ts';

/** An event, and when it is published, in ms since the call's beginning. */
export interface Timed {
  readonly atMs: number;
  readonly event: FeedEvent;
}

/** People say two to three words a second. */
const MS_PER_WORD = 380;
const PARTIAL_WORDS = 3;
/** How often somebody types or thinks before the next word. */
const THINKS_SHARE = 0.3;
/** A late final this far behind is told. */
const LAG_TOLD_MS = 1000;

interface ConversationOptions {
  readonly callId: string;
  readonly random: Random;
  /** Also what is told while somebody speaks, which nobody stores. */
  readonly partials: boolean;
  /** How late a final caption is, in ms. */
  readonly lagMs: () => number;
}

/** Grows by what is said. */
export class Conversation {
  readonly events: Timed[] = [];
  /** How long it has lasted so far. */
  nowMs = 400;
  readonly #options: ConversationOptions;
  readonly #utterances: Record<Track, number> = { inbound: 0, outbound: 0 };
  readonly #late = new Set<Track>();
  #spoken = 0;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /** Goes through all of it. */
  take(steps: readonly Step[]): void {
    for (const step of steps) {
      if (step.who === 'hold') this.hold(step.ms);
      else if (step.who === 'app') this.speak(step.text);
      else if (step.who === 'keys') this.press(step.text);
      else this.say(step.who === 'agent' ? 'outbound' : 'inbound', step.text);
    }
  }

  /** Somebody says something, and it is captioned. */
  say(track: Track, text: string): void {
    const { callId, random, lagMs } = this.#options;
    const utterance = ++this.#utterances[track];
    const startMs = this.nowMs;
    const endMs = startMs + durationOf(text);
    const late = lagMs();
    if (this.#options.partials) this.#addPartials(track, utterance, text, late);
    this.#tellLag(track, endMs, late);
    const confidence = Math.round((0.97 - random() ** 4 * 0.6) * 100) / 100;
    const firstText = random() < 0.05 ? text.replace(/ \S+$/, '.') : text;
    this.#add(endMs + late, {
      type: 'caption',
      callId,
      track,
      utterance,
      stable: firstText,
      tail: '',
      text: firstText,
      final: true,
      startMs,
      endMs,
      lagMs: late,
      confidence,
      ...(confidence < 0.5 && ({ lowConfidence: true } as const)),
    });
    if (firstText !== text)
      this.#add(endMs + late + 900, { type: 'revision', callId, track, utterance, version: 2, text, startMs, endMs });
    this.nowMs = endMs + (random() < THINKS_SHARE ? between(2000, 9000, random) : between(250, 1500, random));
  }

  /** The app says something; now and then it is interrupted. */
  speak(text: string): void {
    const { callId, random } = this.#options;
    const startMs = this.nowMs;
    const interrupted = random() < 0.15;
    const words = text.split(' ');
    const heardText = interrupted ? words.slice(0, Math.ceil(words.length * 0.6)).join(' ') : text;
    const endMs = startMs + durationOf(heardText);
    const utterance = `u${++this.#spoken}`;
    this.#add(endMs, { type: 'spoken', callId, utterance, text, heardText, interrupted, startMs, endMs, atMs: endMs });
    this.nowMs = endMs + between(300, 1200, random);
  }

  /** Keys, one after the other. */
  press(digits: string): void {
    const { callId } = this.#options;
    for (const digit of digits) {
      this.nowMs += 350;
      this.#add(this.nowMs, { type: 'dtmf', callId, digit, atMs: this.nowMs });
    }
    this.nowMs += 600;
  }

  /** The caller is put on hold. */
  hold(ms: number): void {
    const { callId } = this.#options;
    this.#add(this.nowMs, { type: 'call.state', callId, state: 'held', atMs: this.nowMs });
    this.nowMs += ms;
    this.#add(this.nowMs, { type: 'call.state', callId, state: 'live', atMs: this.nowMs });
    this.nowMs += 400;
  }

  /** The caller waits in a queue and hears prompts, each for so long. */
  queue(prompts: readonly string[], waitMs: number): void {
    const { callId } = this.#options;
    this.#add(this.nowMs, { type: 'call.state', callId, state: 'queued', atMs: this.nowMs });
    const untilMs = this.nowMs + waitMs;
    for (let n = 0; this.nowMs + 6000 < untilMs; n++) {
      this.say('outbound', prompts[n % prompts.length] ?? '');
      this.nowMs += 12_000;
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
    this.#add(this.nowMs, { type: 'call.state', callId, state: 'live', atMs: this.nowMs });
    this.nowMs += 500;
  }

  /** Sound is lost on its way. */
  lose(track: Track, ms: number): void {
    const { callId } = this.#options;
    const [startMs, endMs] = [this.nowMs, this.nowMs + ms];
    this.nowMs = endMs;
    this.#add(endMs, { type: 'gap', callId, track, startMs, endMs, reason: 'media' });
  }

  /** Any other event, at this moment or at another one. */
  tell(event: FeedEvent, atMs: number = this.nowMs): void {
    this.#add(atMs, event);
  }

  #tellLag(track: Track, endMs: number, lagMs: number): void {
    const { callId } = this.#options;
    const isLate = lagMs > LAG_TOLD_MS;
    if (isLate === this.#late.has(track)) return;
    if (isLate) this.#late.add(track);
    else this.#late.delete(track);
    const type = isLate ? 'lag.started' : 'lag.ended';
    this.#add(endMs + Math.min(lagMs, LAG_TOLD_MS), { type, callId, track, atMs: endMs, lagMs });
  }

  #addPartials(track: Track, utterance: number, text: string, lagMs: number): void {
    const { callId } = this.#options;
    const startMs = this.nowMs;
    const words = text.split(' ');
    this.#add(startMs, { type: 'speech.started', callId, track, atMs: startMs });
    for (let n = PARTIAL_WORDS; n < words.length; n += PARTIAL_WORDS) {
      const stable = words.slice(0, n - 1).join(' ');
      const tail = ` ${words[n - 1]}`;
      const endMs = startMs + n * MS_PER_WORD;
      const times = { startMs, endMs, lagMs };
      this.#add(endMs + lagMs, {
        type: 'caption',
        callId,
        track,
        utterance,
        stable,
        tail,
        text: stable + tail,
        final: false,
        ...times,
      });
    }
    const atMs = startMs + durationOf(text);
    this.#add(atMs, { type: 'speech.stopped', callId, track, atMs });
  }

  #add(atMs: number, event: FeedEvent): void {
    this.events.push({ atMs, event });
  }
}

function durationOf(text: string): number {
  return Math.max(600, text.split(' ').length * MS_PER_WORD);
}
