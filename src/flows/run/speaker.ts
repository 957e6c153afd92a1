/** Says the prompts of a flow, and knows what of the caller may cut them off. */
import type { Interruptible } from '../../calls/outbound/barge-in.ts';
import type { CallVoice, SayOptions, VoiceEvent } from '../../calls/outbound/voice.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import type { DigitsExpected } from '../../transcription/turn-policy.ts';
import type { FlowBargeIn, FlowPrompt } from '../file/prompts.ts';
import { type PieceSources, piecesOf } from '../prompts/prompt-pieces.ts';
import { PromptTextError } from '../prompts/prompt-text.ts';
import { StepFailure } from '../verbs/step.ts';

/** How a prompt is said where it does not say so itself. */
export interface PromptStyle extends PieceSources {
  readonly bargeIn: FlowBargeIn;
  /** Null = as the call is. */
  readonly voice: string | null;
  readonly expectsDigits?: DigitsExpected | undefined;
  /** Keys do not cut it off before the flow has looked at them. */
  readonly holdsKeys: boolean;
}

/** What became of a prompt. */
export type PromptEnd = 'heard' | 'cut';

interface Prompt {
  readonly bargeIn: FlowBargeIn;
  hasBegun: boolean;
  readonly end: (how: PromptEnd) => void;
}

const INTERRUPTIBLE: Readonly<Record<FlowBargeIn, Interruptible>> = {
  any: 'any',
  keys: 'dtmf',
  speech: 'speech',
  none: 'none',
};

const WITHOUT_KEYS: Readonly<Record<FlowBargeIn, Interruptible>> = {
  any: 'speech',
  keys: 'none',
  speech: 'speech',
  none: 'none',
};

interface SpeakerOptions {
  readonly voice: Pick<CallVoice, 'say' | 'sayParts' | 'interrupt' | 'onEvent'>;
  /** What may interrupt anything in this call. */
  readonly allowed: Interruptible;
  /** A prompt is over. */
  onOver(how: PromptEnd): void;
}

export class Speaker {
  readonly #options: SpeakerOptions;
  /** By utterance, in the order in which they are said. */
  readonly #prompts = new Map<string, Prompt>();

  constructor(options: SpeakerOptions) {
    this.#options = options;
    options.voice.onEvent((event) => this.#onVoice(event));
  }

  /** What may cut off the prompt that is said, or is about to be; null = none is. */
  get bargeIn(): FlowBargeIn | null {
    return this.#first?.bargeIn ?? null;
  }

  /** Whether the caller hears a prompt now. */
  get isSounding(): boolean {
    return this.#first?.hasBegun === true;
  }

  /**
   * Says a prompt after all that is being said. Resolves when it was heard or cut off.
   * @throws StepFailure when it cannot be said
   */
  say(prompt: FlowPrompt, style: PromptStyle): Promise<PromptEnd> {
    const utterance = this.#begin(prompt, style);
    if (utterance === null) return Promise.resolve('heard');
    return this.#endOf(utterance, prompt.bargeIn ?? style.bargeIn);
  }

  #endOf(utterance: string, bargeIn: FlowBargeIn): Promise<PromptEnd> {
    return new Promise((end) => this.#prompts.set(utterance, { bargeIn, hasBegun: false, end }));
  }

  /**
   * Plays sound as {@link say} says a prompt; nothing of the caller cuts it off. `label` = what it is called.
   * @throws StepFailure when it cannot be played
   */
  play(sound: MonoAudio, label: string): Promise<PromptEnd> {
    const utterance = orFailure(() =>
      this.#options.voice.sayParts([{ kind: 'recording', sound, text: label }], { interruptible: 'none' }),
    );
    return this.#endOf(utterance, 'none');
  }

  /** Falls silent, if what is said may be cut off so: `by` what of the caller, or by ourselves. */
  cut(by: 'keys' | 'speech' | 'flow'): void {
    const { bargeIn } = this;
    if (bargeIn === null) return;
    if (by === 'flow' || (cuts(by, bargeIn) && allows(this.#options.allowed, by))) this.#options.voice.interrupt();
  }

  get #first(): Prompt | undefined {
    return this.#prompts.values().next().value;
  }

  /** The utterance's name; null = there is nothing to say. */
  #begin(prompt: FlowPrompt, style: PromptStyle): string | null {
    const { voice } = this.#options;
    return orFailure(() => {
      const pieces = piecesOf(prompt, style);
      const [first] = pieces;
      if (first === undefined) return null;
      const options = optionsOf(prompt, style);
      const isText = pieces.length === 1 && first.kind === 'text';
      return isText ? voice.say(first.text, options) : voice.sayParts(pieces, options);
    });
  }

  #onVoice(event: VoiceEvent): void {
    if (event.type !== 'speaking' && event.type !== 'spoken') return;
    const prompt = this.#prompts.get(event.utterance);
    if (prompt === undefined) return;
    if (event.type === 'speaking') {
      prompt.hasBegun = true;
      return;
    }
    this.#prompts.delete(event.utterance);
    const how = event.interrupted ? 'cut' : 'heard';
    prompt.end(how);
    this.#options.onOver(how);
  }
}

/** Whether this of the caller cuts off prompts of that kind. */
export function cuts(by: 'keys' | 'speech', bargeIn: FlowBargeIn): boolean {
  return bargeIn === 'any' || bargeIn === by;
}

/** @throws StepFailure for what a voice and a text are refused with */
function orFailure<T>(say: () => T): T {
  try {
    return say();
  } catch (error) {
    if (error instanceof TrunklineError || error instanceof PromptTextError)
      throw new StepFailure(`a prompt cannot be said: ${error.message}`);
    throw error;
  }
}

function allows(allowed: Interruptible, by: 'keys' | 'speech'): boolean {
  return allowed === 'any' || allowed === INTERRUPTIBLE[by];
}

/** A voice that is not there is no reason to say nothing. */
function optionsOf({ voice, speed, bargeIn }: FlowPrompt, style: PromptStyle): SayOptions {
  const wished = voice ?? style.voice;
  return {
    interruptible: (style.holdsKeys ? WITHOUT_KEYS : INTERRUPTIBLE)[bargeIn ?? style.bargeIn],
    lang: style.language,
    ...(wished === null ? {} : { voice: wished, voiceIsWish: true }),
    ...(speed === undefined ? {} : { speed }),
    ...(style.expectsDigits === undefined ? {} : { expectsDigits: style.expectsDigits }),
  };
}
