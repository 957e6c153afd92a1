import type { Steps } from '../scheduler.ts';
import type { Line, Sound, Tts } from './model.ts';
import { joinSamples } from './sound.ts';

/** All of a line's sound, for those that do not begin to play it before it is made. */
export async function* speakWhole(tts: Tts, line: Line): Steps<Sound> {
  const stretches: Int16Array[] = [];
  const { samples, rateHz } = yield* tts.speak(line, (sound) => void stretches.push(sound.samples));
  return { samples: joinSamples([...stretches, samples]), rateHz };
}
