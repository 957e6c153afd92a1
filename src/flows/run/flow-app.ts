/** A flow in a call: it talks to the caller as an app does, in the same process. */
import type { CallApp, CallAppOptions, CallerEvent } from '../../calls/app/call-app.ts';
import { callParameter } from '../../calls/app/request.ts';
import { TakeOver } from '../../calls/app/twiml/take-over.ts';
import { readBargeIn } from '../../calls/outbound/barge-in.ts';
import { ANSWERED_BY, type FlowValue } from '../file/conditions.ts';
import type { FlowSet } from '../file/flow.ts';
import type { PromptRecordings } from '../prompts/prompt-pieces.ts';
import type { FlowWorld } from '../verbs/flow-world.ts';
import type { FailedTransfer } from '../verbs/step.ts';
import type { StepRunners } from '../verbs/table.ts';
import { CallerInputs } from './caller-input.ts';
import { type FlowEnd, FlowRun } from './flow-run.ts';
import type { FlowSnapshot } from './flow-snapshot.ts';
import { Speaker } from './speaker.ts';

/** What flows are made of beside their files. */
export interface FlowServices {
  readonly runners: StepRunners;
  readonly recordings: PromptRecordings;
  readonly world: FlowWorld;
}

interface FlowAppOptions extends FlowServices {
  readonly set: FlowSet;
  readonly call: CallAppOptions;
  /** Where the flow goes on; null or left out = it begins. */
  readonly restored?: FlowSnapshot | null;
  /** What became of the transfer that the call comes back from; null or left out = it comes from none. */
  readonly returned?: FailedTransfer | null;
  /** Keeps where the flow is for a call that comes back. Returns a name for it. Left out = nothing is kept. */
  keep?(state: FlowSnapshot): string;
}

export class FlowApp implements CallApp {
  readonly unreachable = false;
  readonly #options: FlowAppOptions;
  readonly #takeOver = new TakeOver();
  readonly #speaker: Speaker;
  readonly #inputs: CallerInputs;
  readonly #run: FlowRun;
  /** The app that has the caller now; null = the flow itself. */
  #app: CallApp | null = null;
  #hasEnded = false;
  #isClosed = false;

  /** Begins at once, but tells nobody anything before the constructor has returned. */
  constructor(options: FlowAppOptions) {
    const { call, set, restored = null, returned = null, keep } = options;
    const { voice, context, start, languages } = call;
    this.#options = options;
    this.#speaker = new Speaker({
      voice,
      allowed: readBargeIn(start.parameters, context.settings.BARGE_IN),
      onOver: (how) => this.#inputs.onPromptOver(how),
    });
    this.#inputs = new CallerInputs({
      clock: context.clock,
      bargeIn: () => this.#speaker.bargeIn,
      isSounding: () => this.#speaker.isSounding,
      cut: () => this.#speaker.cut('keys'),
      onOtherKey: (key) => this.#run.onKey(key),
    });
    this.#run = new FlowRun({
      ...options,
      speaker: this.#speaker,
      inputs: this.#inputs,
      takeOver: this.#takeOver,
      spoken: restored === null ? { language: null, voice: null } : { ...restored.spoken },
      restored,
      returned,
      keep: (state) => keep?.(state) ?? null,
      hide: (isOn) => call.onPrivate(isOn),
      handTo: (app) => this.#handTo(app),
      given: (name) => callParameter(start.parameters, name.toLowerCase()),
      ofCall: (name) => ofCall(call, name),
    });
    if (set.main.language !== null) languages.suggest({ language: set.main.language, by: 'app' }, ['inbound']);
    call.answer.onNews((news) => {
      if (news.type === 'fax' && !this.#hasEnded) this.#run.onFax();
    });
    queueMicrotask(() => void this.#follow());
  }

  /** Whether what the caller says is waited for. */
  get listens(): boolean {
    return !this.#hasEnded && (this.#app === null ? !this.#takeOver.isOn : this.#app.listens);
  }

  /** To the question that is asked, or to the app that has the caller. */
  onSpeech(event: CallerEvent): void {
    if (this.#app !== null) this.#app.onSpeech(event);
    else if (this.listens) this.#inputs.onSpeech(event);
  }

  /** To the question that is asked, to where the flow's keys lead, or to the app that has the caller. */
  onDtmf(digit: string): void {
    if (this.#app !== null) this.#app.onDtmf(digit);
    else if (this.listens) this.#inputs.onKey(digit);
  }

  /** What is said stops, and the next step waits. A question is asked again when the call is given back. */
  mute(isMuted: boolean): void {
    if (this.#takeOver.isOn === isMuted || this.#isClosed) return;
    this.#takeOver.set(isMuted);
    this.#app?.mute(isMuted);
    if (!isMuted) return;
    this.#inputs.forget();
    if (this.#app === null) this.#speaker.cut('flow');
    this.#run.onTakenOver();
  }

  /** Where the flow is, as JSON has it; an app that has the caller is not in it. */
  snapshot(): FlowSnapshot {
    return this.#run.snapshot();
  }

  /** The call is over. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { leaving, step } = this.#run;
    if (!this.#hasEnded) this.#tellEnd({ outcome: leaving?.outcome ?? 'hangup', step, reason: null });
    this.#run.close();
    this.#takeOver.set(false);
    this.#app?.close();
    this.#inputs.forget();
  }

  async #follow(): Promise<void> {
    const { set, call } = this.#options;
    if (this.#isClosed) return;
    call.onFlow({ type: 'flow.started', flow: set.name, version: set.version });
    try {
      const end = await this.#run.run();
      if (end !== null && !this.#isClosed) await this.#leave(end);
    } catch (error) {
      call.onFailure(error);
    }
  }

  async #leave(end: FlowEnd): Promise<void> {
    const { call } = this.#options;
    this.#tellEnd(end);
    await call.voice.drained();
    await this.#takeOver.over();
    if (!this.#isClosed) call.onEnd(end.handoffData, 'app');
  }

  #tellEnd({ outcome, step, reason }: Pick<FlowEnd, 'step' | 'reason'> & { outcome: FlowEnd['outcome'] | 'hangup' }) {
    this.#hasEnded = true;
    const { set, call } = this.#options;
    call.onFlow({ type: 'flow.ended', flow: set.name, outcome, step, reason });
  }

  #handTo(app: CallApp | null): void {
    if (this.#app === app) return;
    this.#app = app;
    this.#inputs.forget();
    if (app !== null && this.#takeOver.isOn) app.mute(true);
  }
}

/** What a flow knows of its call; its parameters stand beside that. */
function ofCall({ start, languages, answer }: CallAppOptions, name: string): FlowValue {
  switch (name) {
    case 'id':
      return start.callId;
    case 'from':
      return start.from;
    case 'to':
      return start.to;
    case 'carrier':
      return start.carrier;
    case ANSWERED_BY:
      return answer.by;
    case 'language':
      return languages.caller;
    default:
      return callParameter(start.parameters, name.toLowerCase()) ?? null;
  }
}
