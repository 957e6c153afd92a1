/** What the steps of a flow are made of, and what they are given to work with. */
import type { CallApp, CallAppOptions } from '../../calls/app/call-app.ts';
import type { TransferOutcome } from '../../calls/leg.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import type { ExpectedAnswer } from '../../transcription/expected-answer.ts';
import type { DigitsExpected } from '../../transcription/turn-policy.ts';
import type { FlowCondition, FlowValue, FlowValues } from '../file/conditions.ts';
import type { FlowPrompt } from '../file/prompts.ts';
import type { PromptRecordings } from '../prompts/prompt-pieces.ts';
import type { FlowWorld } from './flow-world.ts';

/** Where a flow goes on: the name of a step, `end`, `back` or `repeat`; null = where the step's `next` says. */
export type StepExit = string | null;

/** What became of a transfer that came to nothing. */
export type FailedTransfer = Exclude<TransferOutcome, 'transferred'>;

/** The variables of a flow that is under way. */
export interface Variables {
  /** Null = it was never set. Knows `call.…` too. */
  get(name: string): FlowValue;
  set(name: string, value: FlowValue): void;
  /** `text` with the values of its variables, as texts: for addresses and bodies, not for speech. */
  fill(text: string): string;
  isTrue(condition: FlowCondition): boolean;
  all(): FlowValues;
}

/**
 * What the caller did. Keys are told one by one. `isAhead`: the caller did not hear the question, but cut off what was
 * said before it.
 */
export type CallerInput =
  | { readonly type: 'key'; readonly key: string }
  /** A turn of the caller's speech, whole. `confidence` is null where the recogniser does not say. */
  | { readonly type: 'speech'; readonly text: string; readonly confidence: number | null; readonly isAhead: boolean }
  | { readonly type: 'silence' };

/** What is waited for. */
export interface InputRequest {
  /** Counted from the end of what is said; a caller who speaks has until the end of the turn. */
  readonly timeoutMs: number;
  /** Which of the caller's input counts; the other is passed over. */
  readonly accepts: 'keys' | 'speech' | 'any';
  /** The keys that are asked for, which are global ones nowhere else; left out = all. */
  readonly keys?: readonly string[];
  /** The digits that are asked for: the ends of turns wait for them. */
  readonly expectsDigits?: DigitsExpected;
  /** What answers can be expected; left out = anything. */
  readonly answer?: ExpectedAnswer | null;
  /**
   * Whether words answer that are said into the question and do not cut it off: the last ones of them count at its end.
   * Left out = none do but words of agreement right before the end.
   */
  readonly answersAside?: (text: string) => boolean;
  /** The answer is in no event, no log and no recorded sound. */
  readonly isPrivate?: boolean;
}

/** What became of a question, for the record. */
export interface InputNote {
  readonly kind: 'keys' | 'speech' | 'none';
  readonly outcome: 'match' | 'noMatch' | 'noInput';
  /** What the caller said or pressed; null = nothing, or it is private. */
  readonly text: string | null;
  /** What it was understood as. */
  readonly value: FlowValue;
}

/** What a step is given. */
export interface StepTools {
  readonly call: CallAppOptions;
  /** The flow and the step that run. */
  readonly flow: string;
  readonly step: string;
  readonly variables: Variables;
  /** The time, and in tests what stands in for the network, transfers and apps. */
  readonly world: FlowWorld;
  /** In which prompts are said and answers understood now (BCP 47). */
  readonly language: string;
  /** Of the caller (IANA). */
  readonly timeZone: string;
  /** Of amounts that name none, such as EUR; null = nothing is said of it. */
  readonly currency: string | null;
  readonly recordings: PromptRecordings;
  /** Aborts when the call is over, or a global key leaves the step. */
  readonly signal: AbortSignal;
  /** Says a prompt after all that is being said. Resolves when it was heard or cut off. @throws StepFailure */
  say(prompt: FlowPrompt): Promise<'heard' | 'cut'>;
  /** Plays sound as {@link say} says a prompt; the caller cannot cut it off. @throws StepFailure */
  play(sound: MonoAudio, label: string): Promise<'heard' | 'cut'>;
  /** Says a prompt and resolves with the first input from its beginning on. @throws StepFailure */
  ask(prompt: FlowPrompt | null, request: InputRequest): Promise<CallerInput>;
  /** A caller who does not know that all keys have come may press this one, too: it is no answer to anything. */
  passOver(key: string): void;
  /** Tells the record. */
  note(note: InputNote): void;
  /** The flow ends with this step, whatever its exit is, and the call with it: `handoffData` is told of its end. */
  leave(outcome: 'done' | 'transferred', handoffData: string | null): void;
  /** What became of the transfer that the call comes back from, told once; null = it comes from none. */
  takeReturn(): FailedTransfer | null;
  /** Keeps where the flow is for a call that comes back. Returns a name for it; null = nothing can be kept. */
  keepPlace(): string | null;
  /** From now on prompts are in this language (BCP 47), and so are answers. @throws StepFailure */
  speakIn(language: string, voice: string | null): void;
  /** What the caller says and presses goes to `app` until the step is over, or null is given. */
  handTo(app: CallApp | null): void;
}

/** A step cannot be done. The flow goes on with the step's `failed`, then the flow's; the message is for the log. */
export class StepFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StepFailure';
  }
}

/** A question got no answer, and does not say itself where the flow goes on then. */
export class NoAnswer extends StepFailure {}
