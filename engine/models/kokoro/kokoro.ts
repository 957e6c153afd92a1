/**
 * Kokoro-82M: English voices that are hardly told from people, about as slow as the speech itself on one core: for
 * prompts that are made ahead, and for speech over HTTP. It reads the phonemes of hibari's pronunciation.
 * https://huggingface.co/hexgrad/Kokoro-82M (Apache-2.0)
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { VoiceInfo } from '../../contract.ts';
import type { Steps } from '../../scheduler.ts';
import type { Pronunciation } from '../hibari/pronunciation.ts';
import { idsOf, type Vocabulary } from '../hibari/voice-files.ts';
import type { InstalledModel } from '../installed.ts';
import type { Line, Sound, Tts } from '../model.ts';
import { joinSamples, pauseAfter, SilenceTrimmer, toSamples } from '../sound.ts';
import { costHere } from './cost.ts';
import { gainOf } from './gains.ts';
import { KokoroProcess, type KokoroSound } from './kokoro-process.ts';
import { type KokoroVoice, listStyles, readStyles, STYLE_SIZE, STYLES } from './styles.ts';

const RATE_HZ = 24_000;
/** Raised when the same line gives other samples than before. */
const SOUND_REVISION = 1;
/** The network has 512 places, two of them for the ends. */
const PHONEMES_MAX = 500;
/** The first run of a network is slower than all others. */
const FIRST_PHONEMES = 'hˈI.';
/** Two seconds of speech, with which the cost is measured. */
const MEASURED_PHONEMES = 'θˈæŋk ju fɔɹ kˈɔlɪŋ, hˌW kæn ˌI hˈɛlp ju tədˈA?';

/** What is needed beside the folder of the model. */
export interface KokoroOptions {
  readonly pronunciation: Pronunciation;
  /** Keeps what was measured. */
  readonly cacheDir: string;
  readonly progress: (text: string) => void;
}

/**
 * Opens the English voices of an installed model. The network itself is loaded when it first speaks.
 * @throws Error when a file cannot be read
 */
export async function openKokoro(
  { folder, bridge }: Pick<InstalledModel, 'folder' | 'bridge'>,
  { pronunciation, cacheDir, progress }: KokoroOptions,
): Promise<Tts | null> {
  const voices = await listStyles(folder);
  const file = (await readdir(folder)).find((name) => name.endsWith('.onnx'));
  const [first] = voices;
  if (first === undefined || file === undefined) return null;
  const path = join(folder, file);
  const cost = await costHere({ model: bridge.files[file] ?? file, cacheDir }, () => {
    progress('measuring how fast Kokoro speaks on this machine');
    return measureCost(path, first, pronunciation.vocabulary);
  });
  return new Kokoro({ name: `kokoro-${bridge.version}-${SOUND_REVISION}`, licence: bridge.licence, cost }, path, {
    voices,
    pronunciation,
  });
}

async function measureCost(file: string, voice: KokoroVoice, vocabulary: Vocabulary): Promise<number> {
  const network = new KokoroProcess(file);
  const styles = await readStyles(voice);
  const run = (phonemes: string): Promise<KokoroSound> => {
    const ids = idsOf(phonemes, vocabulary);
    return network.run({ ids: [0, ...ids, 0], style: styleFor(styles, ids.length), speed: 1 });
  };
  try {
    await run(FIRST_PHONEMES);
    const { samples, spentMs } = await run(MEASURED_PHONEMES);
    return spentMs / 1000 / (samples.length / RATE_HZ);
  } finally {
    await network.close();
  }
}

interface Source {
  readonly voices: readonly KokoroVoice[];
  readonly pronunciation: Pronunciation;
}

class Kokoro implements Tts {
  readonly name: string;
  readonly voices: readonly VoiceInfo[];
  readonly #network: KokoroProcess;
  readonly #source: Source;
  readonly #styles = new Map<string, Promise<Float32Array>>();

  constructor({ name, licence, cost }: { name: string; licence: string; cost: number }, file: string, source: Source) {
    this.name = name;
    this.#network = new KokoroProcess(file);
    this.#source = source;
    this.voices = source.voices.map((voice) => ({
      name: `kokoro:${voice.name}`,
      language: voice.accent === 'gb' ? 'en-GB' : 'en-US',
      rateHz: RATE_HZ,
      model: name,
      licence,
      cost,
    }));
  }

  /** A line is read whole as far as the network takes it. Pauses while the thread is at work. */
  async *speak({ text, voice: name, speed }: Line, tell: (sound: Sound) => void): Steps<Sound> {
    const voice = this.#source.voices.find((each) => name === `kokoro:${each.name}`);
    if (voice === undefined) throw new Error(`there is no voice ${name}`);
    const phonemizer = await this.#source.pronunciation.phonemizer(voice.accent);
    const lines = joinClauses((await phonemizer.phonemizeClauses(text)).map(({ phonemes }) => phonemes));
    let rest: Int16Array = new Int16Array(0);
    for (const [index, phonemes] of lines.entries()) {
      if (index > 0) tell({ samples: rest, rateHz: RATE_HZ });
      const sound = this.#run(phonemes.trim(), voice, speed);
      yield { until: Promise.allSettled([sound]) };
      const trimmer = new SilenceTrimmer(RATE_HZ);
      const samples = trimmer.push(toSamples(await sound, gainOf(voice.name)));
      rest = joinSamples([samples, trimmer.end(pauseAfter(text) / speed)]);
    }
    return { samples: rest, rateHz: RATE_HZ };
  }

  async #run(phonemes: string, voice: KokoroVoice, speed: number): Promise<Float32Array> {
    const ids = idsOf(phonemes, this.#source.pronunciation.vocabulary);
    const styles = await this.#stylesOf(voice);
    const { samples } = await this.#network.run({ ids: [0, ...ids, 0], style: styleFor(styles, ids.length), speed });
    return samples;
  }

  #stylesOf(voice: KokoroVoice): Promise<Float32Array> {
    const styles = this.#styles.get(voice.name) ?? readStyles(voice);
    this.#styles.set(voice.name, styles);
    return styles;
  }
}

/** Clauses joined to lines that the network takes; none where nothing can be said. */
function joinClauses(clauses: readonly string[]): string[] {
  const lines: string[] = [];
  for (const clause of clauses) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + clause.length <= PHONEMES_MAX) lines[lines.length - 1] = last + clause;
    else lines.push(clause);
  }
  return lines.filter((line) => /\p{L}/u.test(line));
}

/** The style for as many phonemes. */
function styleFor(styles: Float32Array, phonemes: number): Float32Array {
  const row = Math.min(phonemes, STYLES - 1);
  return styles.slice(row * STYLE_SIZE, (row + 1) * STYLE_SIZE);
}
