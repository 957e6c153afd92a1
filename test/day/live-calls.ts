/**
 * Calls that go on. Each has a line inside of the process on which nothing is sent, so that it costs nothing and may be
 * one of hundreds; what is said in it is published at the feed, in the time in which people speak.
 */
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { systemClock, type Timer } from '../../src/foundation/clock.ts';
import { inProcessLine } from '../../src/simulator/in-process-line.ts';
import { TwilioWriter } from '../../src/simulator/twilio-messages.ts';
import type { Parts } from '../../src/wiring.ts';
import { Conversation } from './conversation.ts';
import { type Dialogues, fill, stepsOf, type Talk, talkSteps } from './dialogues.ts';
import { AGENTS, between, callerName, callerNumber, details, pick, type Random } from './people.ts';
import { parametersOf } from './play-day.ts';

const MESSAGE_MAX_BYTES = 65_536;
const CARRIERS = ['twilio', 'twilio', 'asterisk', 'telnyx'];
/** A finished call is followed by another one after at most so long. */
const PAUSE_MAX_MS = 8000;
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
    const line = new LiveLine(this.#options, { talk, trouble }, () => {
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
  readonly #callId = `CA${randomUUID().replaceAll('-', '')}`;
  readonly #writer: TwilioWriter;

  constructor(
    options: LiveOptions,
    { talk, trouble }: { readonly talk: Talk; readonly trouble: Trouble | null },
    onOver: () => void,
  ) {
    const { random, accept } = options;
    const isMenu = trouble === 'app lost' || (trouble === null && random() < 0.12);
    const agent = pick(
      AGENTS.filter(({ queues }) => queues.includes(talk.queue)),
      random,
    );
    const caller = callerName(random);
    const isUnanswered = isMenu || trouble === 'queued';
    const names = { inbound: random() < 0.75 ? caller : null, outbound: isUnanswered ? null : agent.name };
    const who = { names, agent: isUnanswered ? null : agent.id, queue: isMenu ? 'Menu' : talk.queue };
    const numbers = { from: callerNumber(random), to: '+353209100199' };
    this.#writer = new TwilioWriter({
      callSid: this.#callId,
      streamSid: `MZ${randomUUID().replaceAll('-', '')}`,
      tracks: isMenu ? ['inbound'] : ['inbound', 'outbound'],
      parameters: { ...parametersOf(who), ...numbers },
    });
    const carrier = pick(CARRIERS, random);
    this.#socket = new WebSocket('ws://in-process/', {
      createConnection: inProcessLine((socket) => accept(socket, carrier), MESSAGE_MAX_BYTES),
      perMessageDeflate: false,
    });
    const about = details({ agent: agent.name, caller, at: systemClock.wall() }, random);
    const conversation = new Conversation({
      callId: this.#callId,
      random,
      partials: true,
      lagMs: () => between(60, 220, random),
    });
    if (trouble === 'queued')
      conversation.queue(
        options.dialogues.prompts.map((text) => fill(text, about)),
        600_000,
      );
    else if (isMenu) conversation.take(stepsOf(pick(options.dialogues.menus, random).lines, about, random));
    else conversation.take(talkSteps(options.dialogues, talk, about, random));
    addTrouble(conversation, this.#callId, trouble);
    const update = { outcome: pick(talk.outcomes, random), tags: talk.tags, by: agent.name };
    if (!isUnanswered) conversation.tell({ type: 'call.updated', callId: this.#callId, ...update });
    this.#socket.on('open', () => this.#talk(options, conversation, trouble));
    this.#socket.on('close', () => {
      this.#stop();
      onOver();
    });
    this.#socket.on('error', () => undefined);
  }

  close(): void {
    this.#stop();
    this.#socket.terminate();
  }

  #stop(): void {
    for (const timer of this.#timers) timer.cancel();
  }

  #talk({ parts }: LiveOptions, { events, nowMs }: Conversation, trouble: Trouble | null): void {
    this.#socket.send(this.#writer.connected());
    this.#socket.send(this.#writer.start());
    for (const { atMs, event } of events) this.#after(atMs, () => parts.feed.publish(event));
    if (trouble === 'stream lost') this.#after(nowMs * 0.4, () => this.#socket.terminate());
    this.#after(nowMs + 1500, () => {
      this.#socket.send(this.#writer.stop());
      this.#socket.close(1000);
    });
  }

  #after(ms: number, action: () => void): void {
    this.#timers.push(systemClock.after(ms, action));
  }
}

function addTrouble(conversation: Conversation, callId: string, trouble: Trouble | null): void {
  const atMs = Math.min(9000, conversation.nowMs);
  if (trouble === 'slow') conversation.tell({ type: 'lag.started', callId, track: 'inbound', atMs, lagMs: 6100 }, atMs);
  if (trouble === 'app lost') conversation.tell({ type: 'app.lost', callId, atMs }, atMs);
  if (trouble === 'hole')
    conversation.tell(
      { type: 'gap', callId, track: 'inbound', startMs: atMs - 4000, endMs: atMs, reason: 'overload' },
      atMs,
    );
  if (trouble === 'held') conversation.hold(400_000);
}
