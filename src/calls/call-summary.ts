import type { CallParameters } from './call-parameters.ts';
import type { CallPhase } from './call-phase.ts';
import type { CallCounts, CallView } from './call-view.ts';
import type { EndReason, FeedEvent } from './feed/events.ts';
import type { TranscriptItem } from './feed/transcript.ts';
import { TranscriptBuilder } from './feed/transcript-builder.ts';
import type { SipAnswer } from './leg.ts';

/** What is known of a call from its beginning on. */
export interface CallBeginning extends Pick<CallView, 'id' | 'carrier' | 'from' | 'to' | 'app' | 'tracks'> {
  readonly startedAt: Date;
  /** `dialing`: we make the call, and nobody has answered yet. */
  readonly state: 'dialing' | 'live';
  readonly parameters: CallParameters;
  /** All parameters, as they were given. */
  readonly given: Readonly<Record<string, string>>;
}

/** How a call ended. */
export interface CallEnding {
  readonly at: Date;
  readonly reason: EndReason;
  readonly durationMs: number;
  readonly handoffData: string | null;
  /** What a SIP peer answered to our call where it did not begin; left out or null = nothing of that kind. */
  readonly sip?: SipAnswer | null;
}

/** Items of a transcript kept for one call, some seven hours of talk. */
const ITEMS_MAX = 5000;

const SOUND_STATES = { on: 'recording', paused: 'paused', off: 'recorded' } as const;

/** One call as the API shows it, and its transcript: what its events have made of it so far. */
export class CallSummary {
  readonly beginning: CallBeginning;
  readonly #transcript = new TranscriptBuilder({ itemsMax: ITEMS_MAX });
  #phase: CallPhase;
  #assigned: Pick<CallView, 'agent' | 'queue' | 'names'>;
  #ending: CallEnding | null = null;
  #lagMs: number | null = null;
  #worstLagMs: number | null = null;
  #appMuted = false;
  #appLost = false;
  #outcome: string | null = null;
  #tags: readonly string[] = [];
  #sound: CallView['sound'] = null;
  #flow: string | null = null;
  #flowVersion: string | null = null;

  constructor(beginning: CallBeginning) {
    this.beginning = beginning;
    this.#phase = beginning.state === 'dialing' ? 'ringing' : 'live';
    const { agent, queue, names } = beginning.parameters;
    this.#assigned = { agent, queue, names };
  }

  /** Who speaks on each track now. */
  get names(): CallView['names'] {
    return this.#assigned.names;
  }

  get counts(): CallCounts {
    return this.#transcript.counts;
  }

  /** What was said, pressed and missed so far, in the order in which it came. */
  get transcript(): readonly TranscriptItem[] {
    return this.#transcript.items;
  }

  /** How many items of the transcript are not kept any more. */
  get dropped(): number {
    return this.#transcript.dropped;
  }

  /** Takes note of an event of the call. Must not throw: it is called from inside of the feed. */
  apply(event: FeedEvent): void {
    this.#transcript.add(event);
    switch (event.type) {
      case 'caption':
        this.#lagMs = event.lagMs;
        if (event.final) this.#worstLagMs = Math.max(this.#worstLagMs ?? 0, event.lagMs);
        return;
      case 'call.state':
        this.#phase = event.state;
        return;
      case 'call.assigned':
        this.#assigned = { agent: event.agent, queue: event.queue, names: event.names };
        return;
      case 'app.muted':
      case 'app.unmuted':
        this.#appMuted = event.type === 'app.muted';
        return;
      case 'app.lost':
      case 'app.back':
        this.#appLost = event.type === 'app.lost';
        return;
      case 'call.updated':
        this.#outcome = event.outcome;
        this.#tags = event.tags;
        return;
      case 'call.ended':
        // Readers may get it redacted.
        if (this.#ending !== null) this.#ending = { ...this.#ending, handoffData: event.handoffData };
        return;
      case 'flow.started':
        // A call begins with one flow; those that follow are parts of it.
        this.#flow ??= event.flow;
        this.#flowVersion ??= event.version;
        return;
      case 'recording':
        this.#sound = SOUND_STATES[event.state];
        return;
      default:
        return;
    }
  }

  /** The call is over; its last events may still be applied. */
  end(ending: CallEnding): void {
    this.#ending = ending;
  }

  /** `durationMs` = how long it has lasted by its sound, which counts until it has ended. */
  view(durationMs: number): CallView {
    const { parameters: _parameters, given: _given, startedAt, state, ...beginning } = this.beginning;
    const ending = this.#ending;
    return {
      ...beginning,
      ...this.#assigned,
      flow: this.#flow,
      flowVersion: this.#flowVersion,
      appMuted: this.#appMuted,
      appLost: ending === null && this.#appLost,
      state: ending === null ? state : 'ended',
      phase: ending === null ? this.#phase : null,
      startedAt: startedAt.toISOString(),
      endedAt: ending?.at.toISOString() ?? null,
      endReason: ending?.reason ?? null,
      lagMs: this.#lagMs,
      worstLagMs: this.#worstLagMs,
      durationMs: ending?.durationMs ?? durationMs,
      counts: this.counts,
      handoffData: ending?.handoffData ?? null,
      sip: ending?.sip ?? null,
      outcome: this.#outcome,
      tags: this.#tags,
      sound: ending !== null && this.#sound !== null ? 'recorded' : this.#sound,
    };
  }
}
