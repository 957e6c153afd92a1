/**
 * Calls that go on. Each has a line inside of the process on which nothing is sent, so that it costs nothing and may be
 * one of hundreds; what is said in it is published at the feed, in the time in which people speak.
 */
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { systemClock, type Timer } from '../../src/foundation/clock.ts';
import type { Parts } from '../../src/gateway/wiring.ts';
import { inProcessLine } from '../../src/simulator/in-process-line.ts';
import { type StreamIdentity, TwilioWriter } from '../../src/simulator/twilio-messages.ts';
import { Conversation, type Timed } from './conversation.ts';
import { type Dialogues, fill, type Step, stepsOf, type Talk, talkSteps } from './dialogues.ts';
import { AGENTS, between, callerName, callerNumber, details, pick, type Random } from './people.ts';
import { parametersOf } from './play-day.ts';

const MESSAGE_MAX_BYTES = 65_536;
const CARRIERS = ['twilio', 'twilio', 'asterisk', 'telnyx'];
/** A finished call is followed by another one after at most so long. */
const PAUSE_MAX_MS = 8000;
/** How long somebody waits in the queue, on hold or for the app. */
const WAITS_MS = 180_000;
/** From one dialogue to the next, so that no two calls near each other have the same. */
const TALK_STEP = 7;

/** What is wrong with a call. */
export type Trouble = 'slow' | 'app lost' | 'stream lost' | 'queued' | 'hole' | 'held';

interface LiveOptions {
  readonly parts: Pick<Parts, 'feed'>;
  /** Takes the gateway's end of a line, as a call of this carrier. */
  readonly accept: (socket: WebSocket, carrier: string) => void;
  readonly dialogues: Dialogues;
  readonly random: Random;
  /** An app that takes calls and says nothing: what it seems to say is published. */
  readonly appUrl: string;
}

/** Keeps as many calls going as it is told to. */
export class LiveCalls {
  readonly #options: LiveOptions;
  readonly #lines = new Set<LiveLine>();
  readonly #timers = new Set<Timer>();
  #begun = 0;
  #isClosed = false;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  /** Begins a call, which is followed by another one when it is over. */
  begin(trouble: Trouble | null): void {
    if (this.#isClosed) return;
    const { dialogues, random } = this.#options;
    const talk = dialogues.talks[(this.#begun++ * TALK_STEP) % dialogues.talks.length];
    if (talk === undefined) throw new Error('expected dialogues, got none');
    const line = new LiveLine(this.#options, scriptOf(this.#options, talk, trouble), () => {
      this.#lines.delete(line);
      this.#after(between(500, PAUSE_MAX_MS, random), () => this.begin(trouble));
    });
    this.#lines.add(line);
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    for (const line of this.#lines) line.close();
  }

  #after(ms: number, action: () => void): void {
    const timer = systemClock.after(ms, () => {
      this.#timers.delete(timer);
      action();
    });
    this.#timers.add(timer);
  }
}

/** One call. */
class LiveLine {
  readonly #socket: WebSocket;
  readonly #timers: Timer[] = [];

  constructor(
    { parts, accept }: LiveOptions,
    { identity, carrier, events, lastsMs, dropsMs }: Script,
    onOver: () => void,
  ) {
    const writer = new TwilioWriter(identity);
    const socket = new WebSocket('ws://in-process/', {
      createConnection: inProcessLine((theirs) => {
        // A pair of streams does not tell that one of them was destroyed, as a network does.
        socket.on('close', () => theirs.terminate());
        accept(theirs, carrier);
      }, MESSAGE_MAX_BYTES),
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on('open', () => {
      socket.send(writer.connected());
      socket.send(writer.start());
      for (const { atMs, event } of events) this.#after(atMs, () => parts.feed.publish(event));
      if (dropsMs !== null) this.#after(dropsMs, () => socket.terminate());
      this.#after(lastsMs, () => {
        socket.send(writer.stop());
        socket.close(1000);
      });
    });
    socket.on('close', () => {
      this.#stop();
      onOver();
    });
    socket.on('error', () => undefined);
  }

  close(): void {
    this.#stop();
    this.#socket.terminate();
  }

  #stop(): void {
    for (const timer of this.#timers) timer.cancel();
  }

  #after(ms: number, action: () => void): void {
    this.#timers.push(systemClock.after(ms, action));
  }
}

/** What happens in a call. */
interface Script {
  readonly identity: StreamIdentity;
  readonly carrier: string;
  readonly events: readonly Timed[];
  readonly lastsMs: number;
  /** When the line breaks; null = it does not. */
  readonly dropsMs: number | null;
}

/** Writes the script of a call in which `talk` is held, or part of it, with what goes wrong. */
function scriptOf({ dialogues, random, appUrl }: LiveOptions, talk: Talk, trouble: Trouble | null): Script {
  const isMenu = trouble === 'app lost' || (trouble === null && random() < 0.12);
  const isUnanswered = isMenu || trouble === 'queued';
  const agent = pick(
    AGENTS.filter(({ queues }) => queues.includes(talk.queue)),
    random,
  );
  const caller = callerName(random);
  const names = { inbound: random() < 0.75 ? caller : null, outbound: isUnanswered ? null : agent.name };
  const who = { names, agent: isUnanswered ? null : agent.id, queue: isMenu ? 'Menu' : talk.queue };
  const about = details({ agent: agent.name, caller, at: systemClock.wall() }, random);
  const callId = `CA${randomUUID().replaceAll('-', '')}`;
  const lagMs = (): number => (trouble === 'slow' ? between(4200, 6400, random) : between(60, 220, random));
  const conversation = new Conversation({ callId, random, partials: true, lagMs });
  if (trouble === 'queued')
    conversation.queue(
      dialogues.prompts.map((text) => fill(text, about)),
      WAITS_MS,
    );
  else {
    const menu = pick(dialogues.menus, random);
    const steps = isMenu ? stepsOf(menu.lines, about, random) : talkSteps(dialogues, talk, about, random);
    hold(conversation, callId, steps, trouble);
  }
  const update = { outcome: pick(talk.outcomes, random), tags: talk.tags, by: agent.name };
  if (!isUnanswered) conversation.tell({ type: 'call.updated', callId, ...update });
  return {
    identity: {
      callSid: callId,
      streamSid: `MZ${randomUUID().replaceAll('-', '')}`,
      tracks: isMenu ? ['inbound'] : ['inbound', 'outbound'],
      parameters: {
        ...parametersOf(who),
        from: callerNumber(random),
        to: '+353209100199',
        ...(isMenu ? { app: appUrl } : {}),
      },
    },
    carrier: pick(CARRIERS, random),
    events: conversation.events,
    lastsMs: conversation.nowMs + 1500,
    dropsMs: trouble === 'stream lost' ? conversation.nowMs * 0.4 : null,
  };
}

/** Has the steps said; in the middle of them something may happen. */
function hold(conversation: Conversation, callId: string, steps: readonly Step[], trouble: Trouble | null): void {
  const middle = trouble === 'app lost' ? 1 : Math.ceil(steps.length / 2);
  conversation.take(steps.slice(0, middle));
  if (trouble === 'held') conversation.hold(WAITS_MS);
  if (trouble === 'hole') conversation.lose('inbound', 4000);
  if (trouble === 'app lost') {
    conversation.tell({ type: 'app.lost', callId, atMs: conversation.nowMs });
    conversation.nowMs += WAITS_MS;
  } else conversation.take(steps.slice(middle));
}
