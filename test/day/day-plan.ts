/** A day of a call centre: who calls when, who answers, and what comes of it. The same seed gives the same day. */
import type { EndReason } from '../../src/calls/feed/events.ts';
import { Conversation, type Timed } from './conversation.ts';
import { type Dialogues, fill, stepsOf, type Talk, talkSteps } from './dialogues.ts';
import { goThroughFlow } from './flow-ways.ts';
import {
  AGENTS,
  type Agent,
  between,
  callerName,
  callerNumber,
  details,
  pick,
  type Random,
  SUPERVISOR,
} from './people.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** How many calls come in each hour beside the others: ten and two o'clock are busy, one o'clock is quiet. */
const HOURS = [0.5, 1.1, 1.7, 1.4, 0.8, 0.4, 1.5, 1.3, 1, 0.7];
/** The hour in which captions are late now and then. */
const BUSY_HOUR = 2;
/** Who gives up waiting. */
const PATIENCE_MS = 4 * MINUTE_MS;
const CARRIERS: readonly string[] = 'twilio twilio twilio twilio sip sip sip asterisk asterisk telnyx'.split(' ');
/** What breaks a call, and how many in a thousand. */
const BREAKS: readonly (readonly [EndReason, number])[] = [
  ['lost', 12],
  ['timeout', 5],
  ['error', 2],
];
const MENU_SHARE = 0.08;
const FLOW_SHARE = 0.2;
const OUTGOING_SHARE = 0.05;
const MENU_APP = 'wss://menu.harbor.example/talk';

/** What is known of a call when it begins. */
export interface PlannedCall {
  readonly id: string;
  readonly carrier: string;
  readonly from: string;
  readonly to: string;
  readonly names: { readonly inbound: string | null; readonly outbound: string | null };
  readonly agent: string | null;
  readonly queue: string | null;
  readonly app: string | null;
  /** Wall time at which it comes in or is dialled. */
  readonly startMs: number;
  /** How long it rings before it begins; null = nobody answers. */
  readonly ringsMs: number | null;
  /** Everything that is told of it after it has begun, or has rung in vain, in the order of their moments. */
  readonly events: readonly Timed[];
}

interface DayOptions {
  readonly calls: number;
  readonly dialogues: Dialogues;
  readonly random: Random;
  /** Wall time of the beginning. */
  readonly fromMs: number;
}

/** Length of the day. */
export const DAY_MS = HOURS.length * HOUR_MS;

/** All calls of a day, in the order of their beginning. */
export function planDay(options: DayOptions): PlannedCall[] {
  const { calls, random, fromMs } = options;
  const desks = new Desks();
  const starts = Array.from({ length: calls }, () => fromMs + momentOf(random)).sort((a, b) => a - b);
  return starts.map((startMs, n) => {
    const kind = random();
    const call = new DayCall(options, { n, startMs, isBusy: hourOf(startMs - fromMs) === BUSY_HOUR });
    if (kind < MENU_SHARE) return call.planMenu();
    if (kind < MENU_SHARE + FLOW_SHARE) return call.planFlow();
    if (kind < MENU_SHARE + FLOW_SHARE + OUTGOING_SHARE) return call.planOutgoing(desks);
    return call.planTalk(desks);
  });
}

function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS);
}

/** When in the day somebody calls, more often in busy hours. */
function momentOf(random: Random): number {
  let rest = random() * HOURS.reduce((sum, weight) => sum + weight, 0);
  const hour = HOURS.findIndex((weight) => {
    rest -= weight;
    return rest < 0;
  });
  return Math.round((Math.max(hour, 0) + random()) * HOUR_MS);
}

/** Who is free when. */
class Desks {
  readonly #freeAtMs = new Map<Agent, number>(AGENTS.map((agent) => [agent, 0]));

  /** Whoever of a queue is free first, and when. */
  next(queue: string): { agent: Agent; freeAtMs: number } {
    const [first = AGENTS[0], ...others] = AGENTS.filter(({ queues }) => queues.includes(queue));
    if (first === undefined) throw new Error(`nobody answers the queue ${queue}`);
    const freeAtMs = (agent: Agent): number => this.#freeAtMs.get(agent) ?? 0;
    const agent = others.reduce((best, other) => (freeAtMs(other) < freeAtMs(best) ? other : best), first);
    return { agent, freeAtMs: freeAtMs(agent) };
  }

  /** After a call there is something to write. */
  take(agent: Agent, untilMs: number): void {
    this.#freeAtMs.set(agent, untilMs + MINUTE_MS / 2);
  }
}

/** One call while it is planned. */
class DayCall {
  readonly #dialogues: Dialogues;
  readonly #random: Random;
  readonly #startMs: number;
  readonly #id: string;
  readonly #caller: string;
  readonly #isKnown: boolean;
  readonly #from: string;
  readonly #conversation: Conversation;

  constructor(
    { dialogues, random }: DayOptions,
    { n, startMs, isBusy }: { readonly n: number; readonly startMs: number; readonly isBusy: boolean },
  ) {
    this.#dialogues = dialogues;
    this.#random = random;
    this.#startMs = startMs;
    this.#id = `CA${n.toString(16).padStart(6, '0')}${between(0, 2 ** 40, random)
      .toString(16)
      .padStart(10, '0')}`;
    this.#caller = callerName(random);
    this.#isKnown = random() < 0.7;
    this.#from = callerNumber(random);
    const lagMs = (): number => {
      if (random() < (isBusy ? 0.03 : 0.001)) return between(1200, 6500, random);
      return between(40, isBusy ? 600 : 220, random);
    };
    this.#conversation = new Conversation({ callId: this.#id, random, partials: false, lagMs });
  }

  /** A caller who talks with the menu alone. */
  planMenu(): PlannedCall {
    const conversation = this.#conversation;
    const { lines, handoff } = pick(this.#dialogues.menus, this.#random);
    const about = this.#detailsFor('Harbor');
    if (this.#random() < 0.04) this.#end('app_unreachable');
    else {
      conversation.take(stepsOf(lines, about, this.#random));
      this.#end(handoff === null && this.#random() < 0.5 ? 'hangup' : 'app', handoff);
    }
    return this.#planned({ agent: null, queue: 'Menu', app: MENU_APP, ringsMs: 0 });
  }

  /** A caller who goes through a flow. */
  planFlow(): PlannedCall {
    const outcome = goThroughFlow(this.#conversation, this.#id, this.#random);
    this.#end(outcome === 'hangup' ? 'hangup' : 'app');
    return this.#planned({ agent: null, queue: 'Shop', app: 'flow:shop', ringsMs: 0 });
  }

  /** An agent who has the time calls somebody back. */
  planOutgoing(desks: Desks): PlannedCall {
    const { agent, freeAtMs } = desks.next('Sales');
    if (freeAtMs > this.#startMs) return this.planTalk(desks);
    const chance = this.#random();
    const identity = { agent, queue: 'Call backs', app: null };
    const ringsMs = between(4000, 30_000, this.#random);
    if (chance < 0.5) {
      const reason: EndReason = chance < 0.3 ? 'unanswered' : chance < 0.43 ? 'busy' : 'refused';
      const ended = { type: 'call.ended', callId: this.#id, reason, durationMs: 0, handoffData: null } as const;
      this.#conversation.tell(ended, ringsMs);
      desks.take(agent, this.#startMs + ringsMs);
      return this.#planned({ ...identity, ringsMs: null });
    }
    this.#talk(this.#talkOf('Sales'), agent);
    desks.take(agent, this.#startMs + ringsMs + this.#conversation.nowMs);
    return this.#planned({ ...identity, ringsMs });
  }

  /** A caller who talks with an agent, maybe after a while in the queue. */
  planTalk(desks: Desks): PlannedCall {
    const talk = this.#talkOf(null);
    const { agent, freeAtMs } = desks.next(talk.queue);
    const waitMs = freeAtMs - this.#startMs;
    const prompts = this.#dialogues.prompts.map((text) => fill(text, this.#detailsFor(agent.name)));
    if (waitMs > PATIENCE_MS * (0.5 + this.#random())) {
      this.#conversation.queue(prompts, between(40_000, PATIENCE_MS, this.#random));
      this.#update(null, ['gave up waiting'], 'queue');
      this.#end('hangup');
      return this.#planned({ agent: null, queue: talk.queue, app: null, ringsMs: 0 });
    }
    if (waitMs > 0) this.#conversation.queue(prompts, waitMs);
    this.#talk(talk, agent);
    desks.take(agent, this.#startMs + this.#conversation.nowMs);
    return this.#planned({ agent, queue: talk.queue, app: null, ringsMs: 0 });
  }

  #talkOf(queue: string | null): Talk {
    const { talks } = this.#dialogues;
    return pick(queue === null ? talks : talks.filter((talk) => talk.queue === queue), this.#random);
  }

  #detailsFor(agent: string): ReturnType<typeof details> {
    return details({ agent, caller: this.#caller, at: new Date(this.#startMs) }, this.#random);
  }

  #talk(talk: Talk, agent: Agent): void {
    const random = this.#random;
    const conversation = this.#conversation;
    const about = this.#detailsFor(agent.name);
    const steps = talkSteps(this.#dialogues, talk, about, random);
    const broken = this.#breakOf();
    const until = broken === null ? steps.length : between(1, steps.length - 1, random);
    const gapAt = random() < 0.04 ? between(1, until, random) : -1;
    for (const [at, step] of steps.slice(0, until).entries()) {
      if (at === gapAt) conversation.lose('inbound', between(1500, 9000, random));
      conversation.take([step]);
    }
    if (broken !== null) {
      this.#end(broken);
      return;
    }
    const isNoted = random() < 0.25;
    if (isNoted && talk.notes.length > 0) this.#note(fill(pick(talk.notes, random), about), agent);
    if (random() < 0.85) this.#update(pick(talk.outcomes, random), talk.tags, agent.name);
    this.#end(random() < 0.06 ? 'closed' : 'hangup');
  }

  #breakOf(): EndReason | null {
    let rest = this.#random() * 1000;
    for (const [reason, share] of BREAKS) {
      rest -= share;
      if (rest < 0) return reason;
    }
    return null;
  }

  #note(text: string, agent: Agent): void {
    const at = new Date(this.#startMs + this.#conversation.nowMs).toISOString();
    const author = this.#random() < 0.2 ? SUPERVISOR : agent.name;
    this.#conversation.tell({ type: 'note', callId: this.#id, note: `${this.#id}-1`, author, text, at });
  }

  #update(outcome: string | null, tags: readonly string[], by: string): void {
    this.#conversation.tell({ type: 'call.updated', callId: this.#id, outcome, tags, by });
  }

  #end(reason: EndReason, handoffData: string | null = null): void {
    const durationMs = this.#conversation.nowMs;
    // Finals and revisions that come late come before the end.
    const lastMs = Math.max(durationMs, ...this.#conversation.events.map(({ atMs }) => atMs));
    this.#conversation.tell({ type: 'call.ended', callId: this.#id, reason, durationMs, handoffData }, lastMs + 1);
  }

  #planned(how: {
    readonly agent: Agent | null;
    readonly queue: string;
    readonly app: string | null;
    readonly ringsMs: number | null;
  }): PlannedCall {
    const { agent, queue, app, ringsMs } = how;
    const isOutgoing = ringsMs !== 0;
    const desk = '+353209100199';
    return {
      id: this.#id,
      carrier: isOutgoing ? 'sip' : pick(CARRIERS, this.#random),
      from: isOutgoing ? desk : this.#from,
      to: isOutgoing ? this.#from : desk,
      names: { inbound: this.#isKnown ? this.#caller : null, outbound: agent?.name ?? null },
      agent: agent?.id ?? null,
      queue,
      app,
      startMs: this.#startMs,
      ringsMs,
      events: this.#conversation.events.toSorted((a, b) => a.atMs - b.atMs),
    };
  }
}
