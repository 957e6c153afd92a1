/**
 * Hibari: an English voice of 8 MB that sounds like a person. A graph makes spectra of phonemes, and the vocoder makes
 * samples of them. https://pypi.org/project/hibari-tts/ (Apache-2.0)
 */
import type { VoiceInfo } from '../../contract.ts';
import type { Steps } from '../../scheduler.ts';
import type { InstalledModel } from '../installed.ts';
import type { Line, Sound, Tts } from '../model.ts';
import { pauseAfter, SilenceTrimmer, toSamples } from '../sound.ts';
import { Teller } from '../teller.ts';
import { GaussianNoise } from './gaussian.ts';
import { HibariGraph } from './graph.ts';
import type { Pronunciation } from './pronunciation.ts';
import { HIBARI_RATE_HZ } from './pulse-train.ts';
import { maxPhonemesOf, planStretches } from './stretches.ts';
import { Vocoder } from './vocoder.ts';
import { type HibariVoice, idsOf, readVoices } from './voice-files.ts';

/** Raised when the same line gives other samples than before. */
const SOUND_REVISION = 1;

/** CPU seconds for a second of speech, with the pronunciation: `npm run bench -- voices`. */
const COST = 0.02;

/**
 * Make the voices as loud as everything on the phone (-21.7 LUFS); `npm run bench -- voices` shows how loud they are.
 * Voices that could not be measured are taken for as loud as the first.
 */
const GAINS: Readonly<Record<string, number>> = Object.freeze({ heart: 1.69 });
const USUAL_GAIN = 1.69;

/**
 * What leaves first lasts so long, for a few ms of work: until more is made, an engine may have finals to read. Most
 * lines would have 90 ms behind their silence, some 60.
 */
const FIRST_MS = 200;
/** Frames of the vocoder's steps: 0.2 s of sound, until the first has left, and 0.4 s, some 3 ms of work. */
const FIRST_FRAMES = 16;
const STEP_FRAMES = 32;

/** What was heard of a stretch at the edges of its silence is kept on both sides of a pause. */
const EDGES_MS = 60;

/**
 * Opens the voices of an installed package. The first one is loaded, the others when they first speak.
 * @throws Error when a file cannot be read
 */
export async function openHibari(
  { folder, bridge }: Pick<InstalledModel, 'folder' | 'bridge'>,
  pronunciation: Pronunciation,
): Promise<Tts | null> {
  const voices = await readVoices(folder);
  if (voices.length === 0) return null;
  await Promise.all([...new Set(voices.map(({ accent }) => accent))].map(pronunciation.phonemizer));
  return new Hibari(`hibari-${bridge.version}-${SOUND_REVISION}`, { voices, pronunciation, bridge });
}

interface Parts {
  readonly voices: readonly HibariVoice[];
  readonly pronunciation: Pronunciation;
  readonly bridge: Pick<InstalledModel['bridge'], 'licence'>;
}

class Hibari implements Tts {
  readonly name: string;
  readonly voices: readonly VoiceInfo[];
  readonly #parts: Parts;
  readonly #graphs = new Map<string, Promise<HibariGraph>>();

  constructor(name: string, parts: Parts) {
    this.name = name;
    this.#parts = parts;
    this.voices = parts.voices.map((voice) => ({
      name: `hibari:${voice.name}`,
      language: voice.language,
      rateHz: HIBARI_RATE_HZ,
      model: name,
      licence: parts.bridge.licence,
      cost: COST,
    }));
  }

  /** A step for the pronunciation, one for each run of the graph, and one for each 0.4 s of sound. */
  async *speak(line: Line, tell: (sound: Sound) => void): Steps<Sound> {
    const { vocabulary, phonemizer: phonemizerOf } = this.#parts.pronunciation;
    const voice = this.#voiceOf(line);
    const phonemizer = await phonemizerOf(voice.accent);
    const stretches = planStretches(await phonemizer.phonemizeClauses(line.text, maxPhonemesOf(line.speed)));
    const noise = new GaussianNoise(hashOf(line));
    const teller = new Teller(tell, { rateHz: HIBARI_RATE_HZ, firstMs: FIRST_MS });
    let rest: Int16Array = new Int16Array(0);
    for (const [index, { phonemes, pauseMs }] of stretches.entries()) {
      yield;
      const graph = await this.#graphOf(voice);
      const vocoder = new Vocoder(await graph.run(idsOf(phonemes, vocabulary), line.speed), noise);
      const isLast = index === stretches.length - 1;
      // Behind a clause by itself the pause is not shorter than inside of a line.
      const silenceMs = Math.max(pauseMs - EDGES_MS, isLast ? pauseAfter(line.text) : 0) / line.speed;
      rest = yield* this.#render(vocoder, { gain: GAINS[voice.name] ?? USUAL_GAIN, silenceMs }, teller);
      if (!isLast) teller.push(rest);
    }
    return { samples: teller.end(rest), rateHz: HIBARI_RATE_HZ };
  }

  /** The end of the sound, after the rest was told. */
  async *#render(
    vocoder: Vocoder,
    { gain, silenceMs }: { gain: number; silenceMs: number },
    teller: Teller,
  ): Steps<Int16Array> {
    const trimmer = new SilenceTrimmer(HIBARI_RATE_HZ);
    while (!vocoder.isDone) {
      yield;
      teller.push(trimmer.push(toSamples(vocoder.next(teller.hasTold ? STEP_FRAMES : FIRST_FRAMES), gain)));
    }
    return trimmer.end(silenceMs);
  }

  #voiceOf({ voice }: Line): HibariVoice {
    const found = this.#parts.voices.find(({ name }) => voice === `hibari:${name}`);
    if (found === undefined) throw new Error(`there is no voice ${voice}`);
    return found;
  }

  #graphOf({ name, file }: HibariVoice): Promise<HibariGraph> {
    const graph = this.#graphs.get(name) ?? HibariGraph.open(file);
    this.#graphs.set(name, graph);
    return graph;
  }
}

/** FNV-1a of what makes a line's samples, so that its noise is always the same. */
function hashOf({ text, voice, speed }: Line): number {
  const line = `${voice} ${speed} ${text}`;
  let hash = 0x811c_9dc5;
  for (let i = 0; i < line.length; i++) hash = Math.imul(hash ^ line.charCodeAt(i), 0x0100_0193);
  return hash;
}
