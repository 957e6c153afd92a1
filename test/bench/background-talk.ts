/** Callers with others behind them: two human voices, babble and music at a chosen distance, mixed to the sample. */
import { readdirSync, readFileSync } from 'node:fs';
import { readWav } from '../../src/audio/wav.ts';
import { LINE_RATE_HZ, nonSpeechSignals } from '../helpers/signals.ts';
import { concatenate, type Prompt } from './prompts.ts';

const VOICES = '/usr/share/asterisk/sounds';
/** Debian's asterisk-core-sounds-it-wav, -fr-wav and -es-wav: a man and two women. */
const MAN = `${VOICES}/it_IT_m_Carlo`;
const WOMAN = `${VOICES}/fr_CA_f_June`;
const OTHERS = [MAN, WOMAN, `${VOICES}/es_MX_f_Allison`];
/** How loud the caller is, in dB of full scale, while he speaks. */
export const CALLER_DB = -22;
/** Nobody but the background is heard at first: a greeting is played. */
export const LEAD_MS = 5000;
const PAUSE_MS = 2500;
const TALK_SECONDS = 40;
const BABBLE_VOICES = 6;
const SHORTEST_SAMPLES = 2 * LINE_RATE_HZ;
/** Pauses in the background's talk, in samples, in turn. */
const GAPS = [1200, 4000, 2400, 800, 6400, 1600];
const FRAME_SAMPLES = 160;
/** Frames that much below the loud ones are pauses, which do not count for how loud a voice is. */
const PAUSE_DB = 15;

export type BackgroundKind = 'man' | 'woman' | 'babble' | 'music';

/** What a caller says into the phone, and when. */
export interface SpokenScene {
  readonly samples: Int16Array;
  readonly words: readonly string[];
  /** Where each prompt begins and ends, in ms. */
  readonly stretches: readonly { readonly startMs: number; readonly endMs: number }[];
}

/** `prompts` one after the other with pauses, and `kind` behind them all the time, `belowDb` softer; null = nothing. */
export function mixScene(prompts: readonly Prompt[], kind: BackgroundKind | null, belowDb: number): SpokenScene {
  const parts: Float64Array[] = [new Float64Array((LEAD_MS * LINE_RATE_HZ) / 1000)];
  const stretches = [];
  let at = parts[0]?.length ?? 0;
  for (const { samples } of prompts) {
    const said = atLevel(trimmed(samples), CALLER_DB);
    const pause = new Float64Array((PAUSE_MS * LINE_RATE_HZ) / 1000);
    stretches.push({ startMs: (1000 * at) / LINE_RATE_HZ, endMs: (1000 * (at + said.length)) / LINE_RATE_HZ });
    parts.push(said, pause);
    at += said.length + pause.length;
  }
  const behind = kind === null ? new Float64Array(1) : atLevel(backgroundOf(kind), CALLER_DB - belowDb);
  let n = 0;
  const mixed = new Int16Array(at);
  for (const part of parts)
    for (const sample of part) {
      const sum = sample + (behind[n % behind.length] ?? 0);
      mixed[n++] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
    }
  return { samples: mixed, words: prompts.flatMap(({ words }) => [...words]), stretches };
}

function backgroundOf(kind: BackgroundKind): Int16Array {
  if (kind === 'music') return nonSpeechSignals(TALK_SECONDS)['hold music (chords)'] ?? new Int16Array(1);
  if (kind === 'man') return talk(MAN, 0);
  if (kind === 'woman') return talk(WOMAN, 0);
  const voices = Array.from({ length: BABBLE_VOICES }, (_, n) => talk(OTHERS[n % OTHERS.length] ?? MAN, 7 * n));
  const sum = new Int16Array(TALK_SECONDS * LINE_RATE_HZ);
  return sum.map((_, n) => voices.reduce((all, voice) => all + (voice[n % voice.length] ?? 0) / BABBLE_VOICES, 0));
}

/** Prompts of the voice in `folder` from number `from` on, each as loud as the others, for {@link TALK_SECONDS}. */
function talk(folder: string, from: number): Int16Array {
  const parts: Int16Array[] = [];
  const files = readdirSync(folder).filter((name) => name.endsWith('.wav'));
  let length = 0;
  for (const name of [...files.slice(from), ...files]) {
    if (length >= TALK_SECONDS * LINE_RATE_HZ) break;
    const samples = readWav(readFileSync(`${folder}/${name}`)).channels[0];
    if (samples === undefined || samples.length < SHORTEST_SAMPLES) continue;
    const gap = new Int16Array(GAPS[parts.length % GAPS.length] ?? 0);
    parts.push(Int16Array.from(atLevel(trimmed(samples), CALLER_DB), Math.round), gap);
    length += samples.length + gap.length;
  }
  return concatenate(parts).subarray(0, TALK_SECONDS * LINE_RATE_HZ);
}

/** `samples` at `levelDb`, of the parts that are no pauses. */
function atLevel(samples: Int16Array, levelDb: number): Float64Array {
  const powers = framePowers(samples);
  const loud = powers.toSorted((a, b) => a - b)[Math.floor(0.95 * powers.length)] ?? 1;
  const spoken = powers.filter((power) => power > loud / 10 ** (PAUSE_DB / 10));
  const mean = spoken.reduce((sum, power) => sum + power, 0) / Math.max(spoken.length, 1);
  const gain = (32_768 * 10 ** (levelDb / 20)) / Math.sqrt(Math.max(mean, 1));
  return Float64Array.from(samples, (sample) => sample * gain);
}

function framePowers(samples: Int16Array): number[] {
  const powers: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
    let sum = 0;
    for (const sample of samples.subarray(at, at + FRAME_SAMPLES)) sum += sample * sample;
    powers.push(sum / FRAME_SAMPLES);
  }
  return powers;
}

/** Without the silence before and behind it. */
function trimmed(samples: Int16Array): Int16Array {
  const isLoud = (sample: number): boolean => Math.abs(sample) >= 300;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}
