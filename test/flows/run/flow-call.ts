/** A flow in a call with everything around it in the hand of the test: voice, caller, clock. */
import type { CallAppOptions } from '../../../src/calls/app/call-app.ts';
import type { FlowNews } from '../../../src/calls/feed/call-feed.ts';
import type { EndReason } from '../../../src/calls/feed/events.ts';
import type { Flow, FlowSet } from '../../../src/flows/file/flow.ts';
import { flowSetOf } from '../../../src/flows/file/flow-set.ts';
import { readFlow } from '../../../src/flows/file/read-flow.ts';
import type { PromptRecordings } from '../../../src/flows/prompts/prompt-pieces.ts';
import { FlowApp } from '../../../src/flows/run/flow-app.ts';
import type { FlowSnapshot } from '../../../src/flows/run/flow-snapshot.ts';
import type { FlowWorld } from '../../../src/flows/verbs/flow-world.ts';
import type { StepTools } from '../../../src/flows/verbs/step.ts';
import { STEP_RUNNERS, type StepRunners } from '../../../src/flows/verbs/table.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { FakeAnswer } from '../../fakes/call-answer.ts';
import { FakeClock, settle } from '../../fakes/clock.ts';
import { fakeLanguages } from '../../fakes/languages.ts';
import { FakeVoice } from '../../fakes/voice.ts';
import { readSettings } from '../../helpers/settings.ts';

interface FlowCallOptions {
  /** Of the call. */
  readonly parameters?: Record<string, string>;
  readonly from?: string;
  readonly environment?: Record<string, string>;
  readonly world?: Partial<FlowWorld>;
  readonly recordings?: PromptRecordings;
  /** Where the flow goes on. */
  readonly restored?: FlowSnapshot;
  /** In place of those of the gateway. */
  readonly runners?: StepRunners;
  /** What the flow takes of its call, in place of what is here. */
  readonly call?: Partial<CallAppOptions>;
  readonly context?: Partial<CallAppOptions['context']>;
  /** Flows that the first one calls, by name. */
  readonly others?: Readonly<Record<string, string>>;
}

function setOf(yaml: string, others: Readonly<Record<string, string>>): FlowSet {
  const flows = Object.entries(others).map(([name, text]) => [name, flowOf(text, name)] as const);
  const set = flowSetOf('shop', new Map([['shop', flowOf(yaml)], ...flows]));
  if (set === null) throw new Error('a flow is missing');
  return set;
}

/** Reads the flow `name` of a test. Throws for one that is wrong. */
export function flowOf(yaml: string, name = 'shop'): Flow {
  const { flow, errors } = readFlow(`version: 1\n${yaml}`, name);
  if (flow === null) throw new Error(errors.map(({ message }) => message).join('; '));
  return flow;
}

/** The call of one flow, named `shop`. */
export class FlowCall {
  readonly voice = new FakeVoice();
  readonly clock = new FakeClock();
  readonly languages = fakeLanguages();
  readonly answer = new FakeAnswer();
  /** What was told of the flow, in order. */
  readonly news: FlowNews[] = [];
  readonly ends: { handoffData: string | null; reason: EndReason }[] = [];
  readonly failures: unknown[] = [];
  readonly logLines: string[] = [];
  /** Whether what the caller does is private, each time that it changed. */
  readonly privacy: boolean[] = [];
  /** What the runners of `app` were given last. */
  tools: StepTools | null = null;
  readonly app: FlowApp;
  #utterance = 0;

  /** @param flow the text of its file, or the flow with all that it calls */
  constructor(flow: string | FlowSet, options: FlowCallOptions = {}) {
    const { others = {}, world = {}, recordings = { find: () => null }, runners = STEP_RUNNERS } = options;
    this.app = new FlowApp({
      set: typeof flow === 'string' ? setOf(flow, others) : flow,
      call: this.#call(options),
      runners,
      restored: options.restored ?? null,
      recordings,
      world: { wall: () => this.clock.wall(), ...world },
    });
  }

  /** What was said, in order. */
  get said(): string[] {
    return this.voice.texts;
  }

  /** The steps that were entered. */
  get steps(): string[] {
    return this.news.flatMap((event) => (event.type === 'flow.step' ? [event.step] : []));
  }

  /** What became of the questions: `keys match 1 = hours`. */
  get inputs(): string[] {
    return this.news.flatMap((event) =>
      event.type === 'flow.input' ? [`${event.kind} ${event.outcome} ${event.text} = ${event.value}`] : [],
    );
  }

  /** How the flow ended; null = it has not. */
  get end(): string | null {
    const ended = this.news.filter((event) => event.type === 'flow.ended');
    if (ended.length > 1) throw new Error('the flow ended twice');
    return ended[0] === undefined ? null : `${ended[0].outcome} in ${ended[0].step}`;
  }

  /** Lets everything happen that can happen now. */
  async settled(): Promise<this> {
    for (let n = 0; n < 10; n++) await settle();
    return this;
  }

  /** The caller hears everything that is said to its end. */
  async hear(): Promise<this> {
    await this.settled();
    for (let n = 0; this.voice.speaking; n++) {
      if (n === 1000) throw new Error('it never stops talking');
      this.voice.finish();
      await this.settled();
    }
    return this;
  }

  /** What is said begins to sound. */
  async listen(): Promise<this> {
    await this.settled();
    this.voice.begin();
    return await this.settled();
  }

  /** The caller presses keys; `cuts` = what sounds is cut off by the first, as the call's voice does. */
  async press(keys: string, cuts = true): Promise<this> {
    for (const key of keys) {
      if (cuts && this.#isCutBy('dtmf')) this.voice.interrupt();
      this.app.onDtmf(key);
      await this.settled();
    }
    return this;
  }

  /** The caller says something, a turn of its own; `cuts` = it cuts off what sounds. */
  async say(text: string, options: { cuts?: boolean; confidence?: number } = {}): Promise<this> {
    const { cuts = true, ...more } = options;
    this.begins();
    if (cuts && this.#isCutBy('speech')) this.voice.interrupt();
    await this.settled();
    this.ends_(text, more);
    return await this.settled();
  }

  /** The caller begins to speak. */
  begins(): this {
    this.#utterance++;
    this.app.onSpeech({ type: 'speech.started', atMs: 0 });
    return this;
  }

  /** The caller has spoken, and the turn is over; '' = it was no words. */
  ends_(text: string, more: { confidence?: number } = {}): this {
    const utterance = this.#utterance;
    this.app.onSpeech({ type: 'speech.stopped', atMs: 0 });
    const times = { startMs: 0, endMs: 1, lagMs: 0 };
    const caption = { type: 'caption', utterance, stable: text, tail: '', text, final: true } as const;
    if (text !== '') this.app.onSpeech({ ...caption, ...times, ...more });
    this.app.onSpeech({ type: 'turn.ended', first: utterance, last: utterance, atMs: 1 });
    return this;
  }

  /** Time goes by. */
  async wait(ms: number): Promise<this> {
    await this.settled();
    await this.clock.run(ms, 100);
    return await this.settled();
  }

  #isCutBy(kind: 'dtmf' | 'speech'): boolean {
    const [last] = this.voice.asked.slice(-1);
    const interruptible = last?.options.interruptible ?? 'any';
    return this.voice.speaking && (interruptible === 'any' || interruptible === kind);
  }

  #call({ parameters = {}, from = '+15550100', environment = {}, ...given }: FlowCallOptions): CallAppOptions {
    const log = createLog('debug', { write: (line) => void this.logLines.push(line) });
    const context = { ...given.context, clock: this.clock, settings: readSettings(environment), log };
    const start = { callId: 'CA1', carrier: 'twilio', from, to: '+15550199', parameters, playback: 'buffered' };
    const call = {
      start,
      context,
      log,
      voice: this.voice,
      languages: this.languages,
      answer: this.answer,
      recording: null,
      trace: null,
      onConnection: () => undefined,
      onFlow: (news: FlowNews) => void this.news.push(news),
      onPrivate: (isPrivate: boolean) => void this.privacy.push(isPrivate),
      onEnd: (handoffData: string | null, reason: EndReason) => void this.ends.push({ handoffData, reason }),
      transfer: async () => 'unsupported' as const,
      onFailure: (error: unknown) => void this.failures.push(error),
      ...given.call,
    };
    // Flows take of the call no more than this.
    return call as unknown as CallAppOptions;
  }
}
