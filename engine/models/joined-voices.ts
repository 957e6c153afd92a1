/** The voices of several synthesizers as those of one. */
import type { Steps } from '../scheduler.ts';
import type { Line, Sound, Tts } from './model.ts';

/** One synthesizer with all the voices of `synthesizers`, whose names must differ. */
export function joinVoices(synthesizers: readonly Tts[]): Tts {
  const owners = new Map(synthesizers.flatMap((tts) => tts.voices.map(({ name }) => [name, tts] as const)));
  return Object.freeze({
    name: synthesizers.map(({ name }) => name).join('+'),
    voices: synthesizers.flatMap(({ voices }) => voices),
    async *speak(line: Line, tell: (sound: Sound) => void): Steps<Sound> {
      const owner = owners.get(line.voice);
      if (owner === undefined) throw new Error(`there is no voice ${line.voice}`);
      return yield* owner.speak(line, tell);
    },
  });
}
