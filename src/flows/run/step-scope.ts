/** One step of a flow while it is done: what its runner is given. */
import type { CallApp, CallAppOptions } from '../../calls/app/call-app.ts';
import type { TakeOver } from '../../calls/app/twiml/take-over.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import type { Flow } from '../file/flow.ts';
import type { FlowPrompt } from '../file/prompts.ts';
import type { PromptRecordings } from '../prompts/prompt-pieces.ts';
import { type SpeakOptions, speakValue } from '../speak/speak-value.ts';
import type { FlowWorld } from '../verbs/flow-world.ts';
import type { FailedTransfer } from '../verbs/step.ts';
import {
  type CallerInput,
  type InputNote,
  type InputRequest,
  StepFailure,
  type StepTools,
  type Variables,
} from '../verbs/step.ts';
import type { CallerInputs } from './caller-input.ts';
import { cuts, type PromptStyle, type Speaker } from './speaker.ts';
import { TEXT_MAX_CHARS } from './variables.ts';

/** Spoken where neither the flow nor the call names a language. */
const USUAL_LANGUAGE = 'en-US';
/** Where callers are, where no flow says it. */
const USUAL_ZONE = 'UTC';
/** A question that noises cut off is said again so often. */
const NOISES_MAX = 3;
/** Of what is said in a note. */
const NOTE_MAX_CHARS = 1000;

/** What all steps of a call share. */
export interface RunParts {
  readonly call: CallAppOptions;
  readonly world: FlowWorld;
  readonly recordings: PromptRecordings;
  readonly speaker: Speaker;
  readonly inputs: CallerInputs;
  readonly takeOver: Pick<TakeOver, 'isOn' | 'over'>;
  /** What a `language` step has chosen; null = nothing yet. */
  readonly spoken: { language: string | null; voice: string | null };
  /** What the caller says and presses is private from now on, or no more. */
  hide(isOn: boolean): void;
  /** What the caller says and presses goes to this app; null = to the flow. */
  handTo(app: CallApp | null): void;
}

/** How a step leaves the flow, with the call. */
export interface Leaving {
  readonly outcome: 'done' | 'transferred';
  readonly handoffData: string | null;
}

/** Why a step is left before it is done. */
export type LeftFor = 'over' | 'limit' | 'fax' | { readonly key: string } | 'again';

/** What a flow says of these, or else the one that called it; null = none does. */
export type FlowTerms = Pick<Flow, 'language' | 'voice' | 'timeZone' | 'currency'>;

interface ScopeOptions extends RunParts {
  readonly of: Flow;
  readonly step: string;
  readonly variables: Variables;
  readonly terms: FlowTerms;
  onLeave(leaving: Leaving): void;
  onMatch(): void;
  takeReturn(): FailedTransfer | null;
  keepPlace(): string | null;
}

export class StepScope implements StepTools {
  readonly signal: AbortSignal;
  /** Resolves when the step is left before it is done. */
  readonly left: Promise<LeftFor>;
  readonly #options: ScopeOptions;
  readonly #controller = new AbortController();
  #resolveLeft: (why: LeftFor) => void = () => undefined;
  #isPrivate = false;
  #isOver = false;

  constructor(options: ScopeOptions) {
    this.#options = options;
    this.signal = this.#controller.signal;
    this.left = new Promise((resolve) => {
      this.#resolveLeft = resolve;
    });
  }

  get call(): CallAppOptions {
    return this.#options.call;
  }

  get flow(): string {
    return this.#options.of.name;
  }

  get step(): string {
    return this.#options.step;
  }

  get variables(): Variables {
    return this.#options.variables;
  }

  get world(): FlowWorld {
    return this.#options.world;
  }

  /** Where there is none in the language that is spoken, that of the flow's. */
  get recordings(): PromptRecordings {
    const { recordings, terms } = this.#options;
    const usual = terms.language;
    return {
      find: (name, language) =>
        recordings.find(name, language) ?? (usual === null ? null : recordings.find(name, usual)),
    };
  }

  get language(): string {
    const { spoken, terms, call } = this.#options;
    return spoken.language ?? terms.language ?? call.languages.caller ?? USUAL_LANGUAGE;
  }

  get timeZone(): string {
    return this.#options.terms.timeZone ?? USUAL_ZONE;
  }

  get currency(): string | null {
    return this.#options.terms.currency;
  }

  async say(prompt: FlowPrompt): Promise<'heard' | 'cut'> {
    const how = await this.#say(prompt);
    await this.#options.takeOver.over();
    this.#check();
    return how;
  }

  async play(sound: MonoAudio, label: string): Promise<'heard' | 'cut'> {
    await this.#options.takeOver.over();
    this.#check();
    const how = await this.#options.speaker.play(sound, label);
    await this.#options.takeOver.over();
    this.#check();
    return how;
  }

  async ask(prompt: FlowPrompt | null, request: InputRequest): Promise<CallerInput> {
    const { inputs } = this.#options;
    this.#check();
    this.#hide(request.isPrivate === true);
    this.#options.call.languages.expectAnswer(request.answer ?? null);
    const early = inputs.takeEarly(request) ?? (await this.#finishCutIn(prompt, request));
    this.#check();
    if (early !== null) return early;
    for (let noises = 0; ; noises++) {
      const heard = await this.#sayAndWait(noises < NOISES_MAX ? prompt : null, request);
      if (heard.type !== 'noise') return heard;
    }
  }

  passOver(key: string): void {
    if (!this.#isOver) this.#options.inputs.passOver(key);
  }

  note({ kind, outcome, text, value }: InputNote): void {
    const { call, inputs, onMatch } = this.#options;
    if (outcome === 'match') onMatch();
    else inputs.forgetKeys();
    const kept = typeof value === 'string' ? value.slice(0, NOTE_MAX_CHARS) : value;
    const said = text?.slice(0, NOTE_MAX_CHARS) ?? null;
    call.onFlow({ type: 'flow.input', flow: this.flow, step: this.step, kind, outcome, text: said, value: kept });
  }

  leave(outcome: 'done' | 'transferred', handoffData: string | null): void {
    if (!this.#isOver) this.#options.onLeave({ outcome, handoffData: handoffData?.slice(0, TEXT_MAX_CHARS) ?? null });
  }

  takeReturn(): FailedTransfer | null {
    return this.#options.takeReturn();
  }

  keepPlace(): string | null {
    return this.#options.keepPlace();
  }

  speakIn(language: string, voice: string | null): void {
    const { call, spoken } = this.#options;
    this.#check();
    try {
      call.languages.name({ language, by: 'app' }, 'language', ['inbound']);
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      call.log.warn({ language }, `the flow goes on in a language that is not understood: ${error.message}`);
    }
    spoken.language = language;
    spoken.voice = voice;
  }

  handTo(app: CallApp | null): void {
    if (!this.#isOver) this.#options.handTo(app);
  }

  /** The step is left before it is done. */
  abandon(why: LeftFor): void {
    if (this.#isOver) return;
    this.#resolveLeft(why);
    this.#end();
    this.#controller.abort(new StepFailure('the step was left'));
  }

  /** The step is done: its runner can do nothing more. */
  finish(): void {
    if (!this.#isOver) this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#options.inputs.endWait();
    this.#hide(false);
    this.#options.call.languages.expectAnswer(null);
    this.#options.handTo(null);
  }

  #hide(isOn: boolean): void {
    if (this.#isPrivate === isOn) return;
    this.#isPrivate = isOn;
    this.#options.hide(isOn);
  }

  /** The caller cut in on what was said before the question: what it is may answer it. */
  async #finishCutIn(prompt: FlowPrompt | null, request: InputRequest): Promise<CallerInput | null> {
    const { inputs } = this.#options;
    const mayCut = cuts('speech', prompt?.bargeIn ?? this.#style().bargeIn);
    if (!inputs.isCuttingIn || !mayCut || request.accepts === 'keys') return null;
    const heard = await inputs.wait(request, true);
    return heard.type === 'silence' || heard.type === 'noise' ? null : heard;
  }

  async #sayAndWait(prompt: FlowPrompt | null, request: InputRequest) {
    const { inputs, speaker } = this.#options;
    const answer = inputs.wait(request);
    const said = prompt === null ? Promise.resolve() : this.#say(prompt, request);
    // Rejects where the prompt cannot be said; its end is no answer.
    const unsaid = said.then(() => {
      inputs.listen();
      return new Promise<never>(() => undefined);
    });
    const heard = await Promise.race([answer, unsaid]);
    this.#check();
    if (heard.type === 'speech') speaker.cut('speech');
    return heard;
  }

  async #say(prompt: FlowPrompt, request?: InputRequest): Promise<'heard' | 'cut'> {
    await this.#options.takeOver.over();
    this.#check();
    return await this.#options.speaker.say(prompt, this.#style(request));
  }

  #style(request?: InputRequest): PromptStyle {
    const { of, terms, spoken, recordings, variables, inputs } = this.#options;
    return {
      bargeIn: of.bargeIn,
      voice: spoken.voice ?? terms.voice,
      language: this.language,
      recordings,
      flowLanguage: terms.language,
      valueOf: (name) => variables.get(name),
      sayValue: (value, format, language) => speakValue(value, format ?? 'text', language, this.#speakOptions()),
      expectsDigits: request?.expectsDigits,
      holdsKeys: inputs.isPassingOver,
    };
  }

  #speakOptions(): SpeakOptions {
    return { currency: this.currency ?? undefined, now: this.world.wall(), timeZone: this.timeZone };
  }

  #check(): void {
    if (this.#isOver) throw new StepFailure('the step was left');
  }
}
