/** How what an app says is spoken: by its frame, else by what its call asked for. */
import type { SayOptions, TurnOptions } from '../outbound/voice.ts';
import type { PlayFrame, TextFrame } from './frames.ts';
import type { AppRequest } from './request.ts';

/** Text in the language `lang` (BCP 47). A voice that the stream names may be one of another platform's. */
export function styleIn(lang: string | undefined, { voice, voices }: AppRequest): SayOptions {
  const wanted = lang?.toLowerCase() ?? '';
  const named = Object.hasOwn(voices, wanted) ? voices[wanted] : voice;
  return { ...(named === undefined ? {} : { voice: named, voiceIsWish: true }), ...given('lang', lang) };
}

/** The greeting. */
export function greetingOptions(lang: string | undefined, request: AppRequest): SayOptions {
  return { ...styleIn(lang, request), ...given('interruptible', request.greetingInterruptible) };
}

/** How a frame takes its turn. */
export function turnOf(frame: TextFrame | PlayFrame, { interruptible, preemptible }: AppRequest): TurnOptions {
  return {
    ...given('interruptible', frame.interruptible ?? interruptible),
    preemptible: frame.preemptible ?? preemptible,
    ...given('expectsDigits', frame.expects?.digits),
  };
}

/** `{ [name]: value }`, or nothing where there is no value. */
function given<N extends string, V>(name: N, value: V | undefined): { [K in N]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [K in N]?: V };
}
