/** Goes through the steps of a flow, and of those that it calls. */
import type { Timer } from '../../foundation/clock.ts';
import type { FlowValue, FlowValues } from '../file/conditions.ts';
import type { Flow, FlowSet, FlowStep, StepOf } from '../file/flow.ts';
import { type FailedTransfer, NoAnswer, StepFailure } from '../verbs/step.ts';
import { type StepRunners, verbOf } from '../verbs/table.ts';
import { resolveValue } from '../verbs/values.ts';
import { type FlowSnapshot, snapshotOf } from './flow-snapshot.ts';
import { AskedQuestions, isQuestion } from './questions.ts';
import { type FlowTerms, type Leaving, type LeftFor, type RunParts, StepScope } from './step-scope.ts';
import { FlowVariables, initialValues } from './variables.ts';

/** Flows that call each other, one within the other. */
const DEPTH_MAX = 20;

/** How a flow ended. */
export interface FlowEnd {
  readonly outcome: 'done' | 'transferred' | 'failed';
  readonly step: string;
  readonly reason: string | null;
  readonly handoffData: string | null;
}

interface RunOptions extends RunParts {
  readonly set: FlowSet;
  readonly runners: StepRunners;
  /** Where the flow goes on; null = it begins. */
  readonly restored: FlowSnapshot | null;
  /** What became of the transfer that the call comes back from; null = it comes from none. */
  readonly returned: FailedTransfer | null;
  /** Keeps where the flow is for a call that comes back. Returns a name for it; null = nothing is kept. */
  keep(state: FlowSnapshot): string | null;
  /** What the call gives to a parameter of the flow; undefined = nothing. */
  given(name: string): FlowValue | undefined;
  /** The value of `call.<name>`; null = there is none. */
  ofCall(name: string): FlowValue;
}

/** A flow that is under way. */
interface Frame {
  readonly flow: Flow;
  readonly variables: FlowVariables;
  readonly terms: FlowTerms;
  /** Where it is; null = at its end. */
  at: string | null;
  /** It went to the step that follows when one cannot be done, and the caller has answered nothing since. */
  isFailing: boolean;
}

/** The flow cannot go on, whatever it says of failures. */
class FlowHalt extends Error {}

export class FlowRun {
  readonly #options: RunOptions;
  readonly #frames: Frame[] = [];
  readonly #questions = new AskedQuestions();
  readonly #visits: Map<string, number>;
  #steps: number;
  #returned: FailedTransfer | null;
  /** What led to the next step, where the step before did not. */
  #by: FlowSnapshot['by'] = null;
  /** What led to the step that is under way. */
  #enteredBy: FlowSnapshot['by'] = null;
  readonly #beganMs: number;
  #isLate = false;
  #scope: StepScope | null = null;
  #leaving: Leaving | null = null;
  #lastStep: string;
  #isOver = false;

  constructor(options: RunOptions) {
    this.#options = options;
    const { set, world, given, restored, returned, call } = options;
    const { main } = set;
    this.#lastStep = main.start;
    this.#beganMs = call.context.clock.nowMs() - (restored?.elapsedMs ?? 0);
    this.#visits = new Map(Object.entries(restored?.visits ?? {}));
    this.#steps = restored?.steps ?? 0;
    this.#by = restored?.by ?? null;
    this.#returned = returned;
    if (restored === null) this.#push(main, { ...initialValues(main, given), ...world.variables });
    else this.#restore(restored);
  }

  /** The step that the flow is in, or was in last. */
  get step(): string {
    return this.#lastStep;
  }

  /** How a step that is under way leaves the flow; null = it does not. */
  get leaving(): Leaving | null {
    return this.#leaving;
  }

  /** Resolves when the flow has ended; null = the call was over before that. */
  async run(): Promise<FlowEnd | null> {
    const { set, call } = this.#options;
    const leftMs = Math.max(set.main.limits.timeMs - this.#elapsedMs, 0);
    const late = call.context.clock.after(leftMs, () => this.#stopLate());
    const end = await this.#follow(late);
    late.cancel();
    return this.#isOver ? null : end;
  }

  /** Where the flow is. A step that is under way counts as not begun. */
  snapshot(): FlowSnapshot {
    const { set, spoken } = this.#options;
    const frames = this.#frames.map(({ flow, variables, at, isFailing }) => {
      return { flow: flow.name, values: variables.all(), at, isFailing };
    });
    const entered = this.#entered;
    const visits = Object.fromEntries(
      [...this.#visits].map(([name, count]) => [name, name === entered ? count - 1 : count]),
    );
    return snapshotOf(set, {
      frames,
      spoken: { ...spoken },
      asked: this.#questions.all(),
      visits,
      steps: entered === null ? this.#steps : this.#steps - 1,
      elapsedMs: this.#elapsedMs,
      by: entered === null ? this.#by : this.#enteredBy,
    });
  }

  /** The call is over. */
  close(): void {
    this.#isOver = true;
    this.#scope?.abandon('over');
  }

  /** A key that no question takes. Returns whether it leads anywhere. */
  onKey(key: string): boolean {
    const scope = this.#scope;
    const isGlobal = this.#frames.some(({ flow }) => flow.keys.has(key));
    if (scope === null || !isGlobal) return false;
    scope.abandon({ key });
    return true;
  }

  /** The far party is a fax machine: the flow goes on where it says so, if it does. */
  onFax(): void {
    if (this.#frames.some(({ flow }) => flow.fax !== null)) this.#scope?.abandon('fax');
  }

  /** Somebody takes the call over: a question is asked again when it is given back. */
  onTakenOver(): void {
    const frame = this.#frames.at(-1);
    const step = frame === undefined || frame.at === null ? undefined : frame.flow.steps.get(frame.at);
    if (step !== undefined && isQuestion(step.verb)) this.#scope?.abandon('again');
  }

  async #follow(late: Timer): Promise<FlowEnd> {
    try {
      while (this.#frames.length > 0 && !this.#isOver) {
        await this.#doNext();
        if (this.#leaving !== null) return { ...this.#leaving, step: this.#lastStep, reason: null };
      }
      return { outcome: 'done', step: this.#lastStep, reason: null, handoffData: null };
    } catch (error) {
      late.cancel();
      if (!(error instanceof FlowHalt)) throw error;
      return await this.#halt(error.message);
    }
  }

  /** Tells the caller that it does not go on. */
  async #halt(reason: string): Promise<FlowEnd> {
    const { call, set } = this.#options;
    call.log.warn({ flow: set.name, step: this.#lastStep }, `a flow ends before its end: ${reason}`);
    const spoken = this.#frames.findLast(({ flow }) => flow.failedPrompt !== null) ?? this.#frames[0];
    const prompt = spoken?.flow.failedPrompt ?? null;
    if (prompt !== null && spoken !== undefined && !this.#isOver) {
      const scope = this.#openScope(spoken, this.#lastStep);
      const said = scope.say(prompt).catch(() => undefined);
      await Promise.race([said, scope.left]);
      scope.finish();
    }
    return { outcome: 'failed', step: this.#lastStep, reason, handoffData: null };
  }

  /** Does a step, or ends a flow that is at its end. */
  async #doNext(): Promise<void> {
    const frame = this.#top;
    if (frame.at === null) {
      this.#return(frame);
      return;
    }
    const step = frame.flow.steps.get(frame.at);
    if (step === undefined) throw new FlowHalt(`the flow ${frame.flow.name} has no step ${frame.at}`);
    this.#enter(frame, step);
    if (step.verb === 'flow') this.#call(frame, step);
    else await this.#do(frame, step);
  }

  async #do(frame: Frame, step: FlowStep): Promise<void> {
    const scope = this.#openScope(frame, step.name);
    try {
      const left = scope.left.then((why) => ({ why }));
      const done = await Promise.race([this.#runner(step)(step.fields, scope), left]);
      if (typeof done === 'object' && done !== null) await this.#goOnAfter(frame, step, done.why);
      else this.#goTo(frame, done ?? step.next ?? 'end');
    } catch (error) {
      if (error instanceof FlowHalt) throw error;
      this.#fail(frame, step, error);
    } finally {
      scope.finish();
      this.#scope = null;
    }
  }

  #runner(step: FlowStep): (fields: unknown, scope: StepScope) => Promise<string | null> {
    const runner = this.#options.runners[step.verb as keyof StepRunners];
    // The table has the runner of each verb for the fields of that verb.
    return runner as unknown as (fields: unknown, scope: StepScope) => Promise<string | null>;
  }

  async #goOnAfter(frame: Frame, step: FlowStep, why: LeftFor): Promise<void> {
    const { inputs, takeOver, set } = this.#options;
    inputs.forget();
    if (why === 'over') return;
    if (why === 'limit') throw new FlowHalt(`it lasts longer than ${set.main.limits.timeMs} ms (limits.timeMs)`);
    if (why === 'again') {
      await takeOver.over();
      this.#goTo(frame, 'repeat');
      return;
    }
    const wayOf = ({ flow }: Frame): string | null => (why === 'fax' ? flow.fax : (flow.keys.get(why.key) ?? null));
    this.#by = why === 'fax' ? 'fax' : 'key';
    const depth = this.#frames.findLastIndex((known) => wayOf(known) !== null);
    const found = this.#frames[depth];
    const target = (found && wayOf(found)) ?? 'repeat';
    if (target === 'back' || target === 'repeat') this.#goTo(frame, target, step.name);
    else {
      this.#unwind(depth + 1);
      this.#goTo(this.#top, target);
    }
  }

  #openScope(frame: Frame, step: string): StepScope {
    const { flow, variables, terms } = frame;
    const scope = new StepScope({
      ...this.#options,
      of: flow,
      step,
      variables,
      terms,
      onLeave: (leaving) => {
        this.#leaving = leaving;
      },
      takeReturn: () => this.#takeReturn(),
      keepPlace: () => this.#options.keep(this.snapshot()),
      onMatch: () => {
        for (const known of this.#frames) known.isFailing = false;
      },
    });
    this.#scope = scope;
    return scope;
  }

  /** @throws FlowHalt when it was entered too often */
  #enter(frame: Frame, step: FlowStep): void {
    const { set, call } = this.#options;
    const { flow } = frame;
    if (this.#isLate) throw new FlowHalt(`it lasts longer than ${set.main.limits.timeMs} ms (limits.timeMs)`);
    this.#lastStep = step.name;
    this.#steps++;
    if (this.#steps > set.main.limits.steps)
      throw new FlowHalt(`it has taken ${set.main.limits.steps} steps in one call (limits.steps)`);
    const name = `${flow.name} ${step.name}`;
    const visits = (this.#visits.get(name) ?? 0) + 1;
    this.#visits.set(name, visits);
    if (visits > flow.limits.visits)
      throw new FlowHalt(`it has come ${flow.limits.visits} times to the step ${step.name} (limits.visits)`);
    if (isQuestion(step.verb)) this.#questions.note({ depth: this.#depth, step: step.name });
    const by = this.#by === null ? {} : { by: this.#by };
    this.#enteredBy = this.#by;
    this.#by = null;
    call.onFlow({ type: 'flow.step', flow: flow.name, step: step.name, verb: step.verb, ...by });
  }

  #call(frame: Frame, { fields }: StepOf<'flow'>): void {
    const called = this.#options.set.flows.get(fields.name);
    if (called === undefined) throw new FlowHalt(`there is no flow ${fields.name}`);
    if (this.#frames.length >= DEPTH_MAX) throw new FlowHalt(`${DEPTH_MAX} flows are called one within the other`);
    const given = new Map(
      Object.entries(fields.with ?? {}).map(([name, value]) => [name, resolveValue(value, frame.variables)]),
    );
    this.#push(
      called,
      initialValues(called, (name) => given.get(name)),
    );
  }

  #takeReturn(): FailedTransfer | null {
    const outcome = this.#returned;
    this.#returned = null;
    return outcome;
  }

  /** The step that is under way, as visits name it; null = none is. */
  get #entered(): string | null {
    const frame = this.#frames.at(-1);
    return this.#scope === null || frame === undefined ? null : `${frame.flow.name} ${this.#scope.step}`;
  }

  get #elapsedMs(): number {
    return this.#options.call.context.clock.nowMs() - this.#beganMs;
  }

  #restore({ frames, asked }: FlowSnapshot): void {
    for (const { flow: name, values, at, isFailing } of frames) {
      const flow = this.#options.set.flows.get(name);
      if (flow === undefined) throw new RangeError(`the state has a flow ${name}, which there is not`);
      this.#push(flow, values, at);
      this.#top.isFailing = isFailing;
    }
    for (const question of asked) this.#questions.note(question);
  }

  #push(flow: Flow, initial: FlowValues, at: string | null = flow.start): void {
    const { world, ofCall } = this.#options;
    const caller = this.#frames.at(-1)?.terms;
    this.#frames.push({
      flow,
      variables: new FlowVariables({ initial, ofCall, onSet: (name, value) => world.onSet?.(flow.name, name, value) }),
      terms: {
        language: flow.language ?? caller?.language ?? null,
        voice: flow.voice ?? caller?.voice ?? null,
        timeZone: flow.timeZone ?? caller?.timeZone ?? null,
        currency: flow.currency ?? caller?.currency ?? null,
      },
      at,
      isFailing: false,
    });
  }

  /** A flow is at its end: the one that called it goes on. */
  #return({ variables }: Frame): void {
    const caller = this.#frames.at(-2);
    const step = caller?.flow.steps.get(caller.at ?? '');
    this.#unwind(this.#depth);
    if (caller === undefined || step?.verb !== 'flow') return;
    for (const [own, theirs] of Object.entries(step.fields.into ?? {}))
      caller.variables.set(own, variables.get(theirs));
    this.#goTo(caller, step.next ?? 'end');
  }

  #goTo(frame: Frame, target: string, from: string | null = frame.at): void {
    if (target === 'repeat') return;
    if (target === 'end') frame.at = null;
    else if (target !== 'back') frame.at = target;
    else if (from !== null) this.#goBack(from);
  }

  /** Without a question before, the step is begun again. */
  #goBack(from: string): void {
    const question = this.#questions.back({ depth: this.#depth, step: from });
    if (question === null) return;
    this.#unwind(question.depth + 1);
    this.#top.at = question.step;
  }

  /** Leaves the flows from number `depth` on. */
  #unwind(depth: number): void {
    if (depth > this.#depth) return;
    const caller = this.#frames[depth - 1];
    this.#questions.leave(depth, caller?.at ?? null);
    this.#frames.length = depth;
  }

  /** The step cannot be done: the flow goes on where it says so, or else the one that called it. @throws FlowHalt */
  #fail(frame: Frame, step: FlowStep, error: unknown): void {
    const { call } = this.#options;
    const message = error instanceof Error ? error.message : String(error);
    const where = { flow: frame.flow.name, step: step.name };
    const own = verbOf(step.verb).exitWithout?.(step.fields, error, step.next) ?? null;
    if (!(error instanceof NoAnswer)) this.#by = 'failed';
    if (error instanceof StepFailure) call.log.warn(where, `a step of a flow cannot be done: ${message}`);
    else call.log.error({ ...where, err: error }, 'a step of a flow failed');
    if (own !== null) {
      this.#goTo(frame, own);
      return;
    }
    for (const depth of [...this.#frames.keys()].toReversed()) {
      const { flow, isFailing } = this.#frames[depth] ?? frame;
      if (flow.failed === null || isFailing) continue;
      this.#unwind(depth + 1);
      this.#top.isFailing = true;
      this.#goTo(this.#top, flow.failed);
      return;
    }
    throw new FlowHalt(error instanceof StepFailure ? `${step.name}: ${message}` : `${step.name} failed`);
  }

  #stopLate(): void {
    this.#isLate = true;
    this.#scope?.abandon('limit');
  }

  get #depth(): number {
    return this.#frames.length - 1;
  }

  get #top(): Frame {
    const frame = this.#frames.at(-1);
    if (frame === undefined) throw new RangeError('no flow is under way');
    return frame;
  }
}
