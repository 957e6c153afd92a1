/**
 * Runs the models before the first call needs them: memory is grown, pages are read and the hot paths are
 * compiled.
 */
import { ENGINE_RATE_HZ, TURN_MAX_SAMPLES, VAD_WINDOW_SAMPLES } from './contract.ts';
import type { Models } from './models/load-models.ts';
import { speakWhole } from './models/speak-whole.ts';
import { openFolder } from './refusal.ts';
import { runThrough } from './scheduler.ts';

/** Lengths of the stretches that are recognised, in seconds: a first partial and a whole utterance. */
const STRETCHES_S = [1, 4];
/** Size of the voice detector's batch. */
const TRACKS = 4;
const WINDOWS = 2;

/** A vowel by its three lowest resonances: centre and bandwidth in Hz. */
const FORMANTS = [
  { centreHz: 600, widthHz: 80 },
  { centreHz: 1200, widthHz: 90 },
  { centreHz: 2500, widthHz: 120 },
];
const SYLLABLES_HZ = 4;
const PEAK = 8000;

type WarmedModels = Pick<Models, 'asr' | 'asrFolder' | 'vad' | 'tts' | 'turn'>;

const SENTENCE = 'Thank you for calling, how can I help you?';

/**
 * Runs every model on {@link speechLikeNoise}: silence would give the quantised operators ranges that speech never has.
 * @param stage is told what begins
 * @throws Refusal when the files of a recogniser's folder do not fit one another
 */
export async function warmUp(
  { asr, asrFolder, vad, tts, turn }: WarmedModels,
  stage: (name: string) => void = () => undefined,
): Promise<void> {
  for (const seconds of STRETCHES_S) {
    stage(`a first run of the recogniser, over ${seconds} s`);
    await openFolder(asrFolder, () => asr.warmUp(speechLikeNoise(seconds * ENGINE_RATE_HZ)));
  }
  stage('first runs of the other models');
  const track = { samples: speechLikeNoise(WINDOWS * VAD_WINDOW_SAMPLES), state: null };
  if (vad !== null) await runThrough(vad.detect(Array.from({ length: TRACKS }, () => track)));
  const voice = tts?.voices[0]?.name ?? '';
  if (tts !== null) await runThrough(speakWhole(tts, { text: SENTENCE, voice, speed: 1 }));
  if (turn !== null) await runThrough(turn.decide(speechLikeNoise(TURN_MAX_SAMPLES)));
}

/** Noise through the resonances of a vowel, swelling and fading like syllables; the same for every call. */
export function speechLikeNoise(length: number): Int16Array {
  const sum = new Float64Array(length);
  for (const [index, formant] of FORMANTS.entries()) addFormant(sum, formant, index + 1);
  const peak = sum.reduce((highest, value) => Math.max(highest, Math.abs(value)), 1e-9);
  return Int16Array.from(sum, (value) => (value / peak) * PEAK);
}

function addFormant(
  sum: Float64Array,
  { centreHz, widthHz }: { centreHz: number; widthHz: number },
  seed: number,
): void {
  const radius = Math.exp((-Math.PI * widthHz) / ENGINE_RATE_HZ);
  const turn = 2 * radius * Math.cos((2 * Math.PI * centreHz) / ENGINE_RATE_HZ);
  let random = seed;
  let [last, beforeLast] = [0, 0];
  for (let i = 0; i < sum.length; i++) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    const value = random / 2 ** 32 - 0.5 + turn * last - radius * radius * beforeLast;
    const loudness = 0.5 - 0.5 * Math.cos((2 * Math.PI * SYLLABLES_HZ * i) / ENGINE_RATE_HZ);
    sum[i] = (sum[i] ?? 0) + value * loudness;
    [beforeLast, last] = [last, value];
  }
}
