/** `trunkline flow call`: a conversation with a flow, typed in the terminal. */
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import type { FlowValue } from '../../flows/file/conditions.ts';
import type { FlowSet } from '../../flows/file/flow.ts';
import { type CallNews, describeInput, ObservedCall } from '../../flows/testing/observed-call.ts';
import { CALLED_NUMBER, CALLER_NUMBER } from '../../flows/testing/test-file.ts';
import { timeZoneOf } from '../../flows/testing/test-world.ts';
import type { TextLine } from '../../flows/testing/text-line.ts';
import { wallTimeIn } from '../../flows/testing/wall-time.ts';
import type { FlowWorld } from '../../flows/verbs/flow-world.ts';
import { sleep, systemClock, type Timer } from '../../foundation/clock.ts';
import { createLog, type Log } from '../../foundation/log/log.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { VirtualClock } from '../../foundation/virtual-clock.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from '../exit-codes.ts';
import { Interruption } from '../interruption.ts';
import type { Output, Terminal } from '../terminal.ts';
import { findFlow } from './find-flow.ts';
import { openTextLine } from './text-tests.ts';

/** The options of the command. */
export interface CallFlowOptions {
  /** Variables at the beginning. */
  readonly var: Readonly<Record<string, string>>;
  /** Parameters of the call. */
  readonly param: Readonly<Record<string, string>>;
  /** Whether each step is shown. */
  readonly steps: boolean;
  /** What time it is; now unless given. */
  readonly at?: string;
  readonly from?: string;
  readonly to?: string;
  /** Nobody answers transfers. */
  readonly transferFails: boolean;
}

/** A line of keys is all of them, so that the time that others may take is over at once. */
const KEYS_END_MS = 30_000;
/** Silence lasts until the flow does something, or for so long. */
const SILENCE_MS = 120_000;
const STEP_MS = 100;
/** About as fast as people speak. */
const MS_PER_CHAR = 60;
const LOOK_MS = 20;
/** What the log says first where a step cannot be done. */
const CANNOT = 'a step of a flow cannot be done: ';
/** How long the flow may take to do something with a line. */
const REACTION_MS = 300;
/** A step that asks for nothing in words listens after this time. */
const WORDLESS_MS = 500;

/** Holds the conversation; returns the exit code. @throws ConfigError when the flow cannot be used */
export async function callFlow(
  path: string,
  options: CallFlowOptions,
  environment: Settings,
  { out }: Terminal,
): Promise<number> {
  const conversation = new Conversation(await findFlow(path, environment.FLOWS_DIR), options, environment, out);
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const interrupted = new Interruption(() => lines.close());
  try {
    if (out.isLive) out.line(out.dim('Type what you say, /1 for the key 1, nothing for silence. Ctrl-D hangs up.'));
    for await (const line of lines) {
      await conversation.untilListening();
      if (!conversation.isOpen) break;
      await conversation.take(line.trim());
      await conversation.untilListening();
      if (!conversation.isOpen) break;
    }
    await conversation.untilListening();
  } finally {
    lines.close();
    interrupted.ignore();
    conversation.close();
  }
  if (interrupted.came) return EXIT_INTERRUPTED;
  return conversation.outcome === 'failed' ? EXIT_FAILED : EXIT_OK;
}

/** The flow runs on a clock that follows the real one, and that silence moves on. */
class Conversation {
  readonly #observed = new ObservedCall();
  readonly #options: CallFlowOptions;
  readonly #out: Output;
  readonly #clock: VirtualClock;
  readonly #ticking: Timer;
  readonly #line: TextLine;
  #lastMs = systemClock.nowMs();
  /** When the flow did something last. */
  #newsAtMs = 0;
  #news = 0;

  constructor(set: FlowSet, options: CallFlowOptions, environment: Settings, out: Output) {
    this.#options = options;
    this.#out = out;
    const now = options.at === undefined ? systemClock.wall() : wallTimeIn(options.at, timeZoneOf(set));
    this.#clock = new VirtualClock(now);
    this.#line = openTextLine({
      set,
      settings: environment,
      clock: this.#clock,
      pace: 0,
      from: options.from ?? CALLER_NUMBER,
      to: options.to ?? CALLED_NUMBER,
      parameters: options.param,
      world: this.#world(),
      log: troubleLog((message) => this.#out.line(this.#out.dim(`[${message}]`))),
      onNews: (news) => this.#onNews(news),
    });
    this.#ticking = systemClock.every(LOOK_MS, () => this.#tick());
  }

  get isOpen(): boolean {
    return this.#line.isOpen && this.#observed.outcome === null;
  }

  get outcome(): string | null {
    return this.#observed.outcome;
  }

  /** Resolves when the flow waits for the caller, or the call is over. */
  async untilListening(): Promise<void> {
    const giveUpMs = systemClock.nowMs() + REACTION_MS;
    while (this.isOpen && !this.#observed.hasReacted && systemClock.nowMs() < giveUpMs)
      await sleep(systemClock, LOOK_MS);
    while (this.isOpen && !this.#isListening) await sleep(systemClock, LOOK_MS);
  }

  /** A line that was typed. */
  async take(line: string): Promise<void> {
    const keys = /^\/([0-9*#]+)$/.exec(line)?.[1] ?? /^[0-9*#]+$/.exec(line)?.[0];
    if (keys !== undefined) {
      this.#observed.begin(`presses ${keys}`);
      for (const key of keys) this.#line.press(key);
      await this.#beSilent(KEYS_END_MS);
    } else if (line === '') {
      this.#observed.begin('is silent');
      await this.#beSilent(SILENCE_MS);
    } else {
      this.#observed.begin(`says "${line}"`);
      await this.#say(line);
    }
    this.#newsAtMs = this.#clock.nowMs();
  }

  close(): void {
    if (this.#line.isOpen) this.#line.hangUp();
    this.#ticking.cancel();
  }

  get #isListening(): boolean {
    if (this.#line.isSpeaking || !this.#observed.isAtQuestion) return false;
    return this.#observed.hasAsked || this.#clock.nowMs() - this.#newsAtMs >= WORDLESS_MS;
  }

  /** For as long as it takes to say it. */
  async #say(text: string): Promise<void> {
    this.#line.beginSpeech();
    for (let spokenMs = 0; spokenMs < text.length * MS_PER_CHAR; spokenMs += STEP_MS) {
      this.#clock.advance(STEP_MS);
      await setImmediate();
    }
    this.#line.endSpeech(text);
  }

  /** Until the flow does something, but no longer than `maxMs`. */
  async #beSilent(maxMs: number): Promise<void> {
    const before = this.#news;
    for (let silentMs = 0; silentMs < maxMs && this.#news === before && this.isOpen; silentMs += STEP_MS) {
      this.#clock.advance(STEP_MS);
      await setImmediate();
    }
  }

  #tick(): void {
    const nowMs = systemClock.nowMs();
    this.#clock.advance(nowMs - this.#lastMs);
    this.#lastMs = nowMs;
  }

  #world(): FlowWorld {
    return {
      wall: () => this.#clock.wall(),
      transfer: (to) => {
        const { transferFails } = this.#options;
        this.#out.line(this.#out.dim(`[transfer to ${to}: ${transferFails ? 'nobody answers' : 'answered'}]`));
        return Promise.resolve(!transferFails);
      },
      app: (url) => {
        this.#out.line(this.#out.dim(`[the app at ${url ?? 'APP_URL'} hands over nothing]`));
        return Promise.resolve(null);
      },
      variables: Object.fromEntries(Object.entries(this.#options.var).map(([name, text]) => [name, typedValue(text)])),
    };
  }

  #onNews(news: CallNews): void {
    this.#news += 1;
    this.#newsAtMs = this.#clock.nowMs();
    this.#observed.note(news);
    if (news.type === 'spoken' && news.heard !== '') this.#out.line(news.heard);
    if (news.type === 'step' && this.#options.steps) this.#out.line(this.#out.dim(`[${news.step}: ${news.verb}]`));
    if (news.type === 'input' && this.#options.steps) this.#out.line(this.#out.dim(`[${describeInput(news)}]`));
    if (news.type === 'ended')
      this.#out.line(this.#out.dim(`[ended: ${news.outcome}${news.reason === null ? '' : `, ${news.reason}`}]`));
  }
}

/** Tells what a flow's log says of steps that cannot be done: without a reason nobody could mend them. */
function troubleLog(tell: (message: string) => void): Log {
  const read = (line: string): void => {
    const { msg, step } = JSON.parse(line) as { readonly msg?: string; readonly step?: string };
    if (step !== undefined && msg !== undefined) tell(`${step}: ${msg.replace(CANNOT, '')}`);
  };
  return createLog('warn', { write: read });
}

/** As YAML would read it. */
function typedValue(text: string): FlowValue {
  if (/^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : text;
}
