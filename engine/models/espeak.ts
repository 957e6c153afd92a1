/**
 * Voices for other languages, where the program espeak-ng is installed. It is run as a separate program and not linked,
 * because its licence is the GPL. Each line is one run, during which this thread is free.
 * https://github.com/espeak-ng/espeak-ng/blob/1.51/src/espeak-ng.1.ronn
 */
import { type ExecFileException, execFile } from 'node:child_process';
import type { VoiceInfo } from '../contract.ts';
import type { Steps } from '../scheduler.ts';
import type { Line, Sound, Tts } from './model.ts';
import { amplify, pauseAfter, readSamples, trimSilence } from './sound.ts';

const PROGRAM = 'espeak-ng';

/** Of every voice that is not MBROLA's. */
const RATE_HZ = 22_050;

/** 1000 characters take 0.1 s; shorter than the time that an engine gets to drain. */
const RUN_MAX_MS = 4000;

/** 1000 characters at the slowest speed are 6 MB. */
const OUTPUT_MAX_BYTES = 32 * 1024 * 1024;

/** Words per minute: the program's default, and its limits. */
const USUAL_WPM = 175;
const WPM_MIN = 80;
const WPM_MAX = 450;

const VOICE_PREFIX = 'espeak:';
const WAV_HEADER_BYTES = 44;

const LICENCE = 'GPL-3.0-or-later';
/** CPU seconds for each second of speech, measured in 13 languages: 0.003 of the program, 0.004 to run it. */
const COST = 0.01;
/**
 * Makes the voices as loud as everything on the phone (-21.7 LUFS). Two sentences in each of 13 languages are -21.7 to
 * -20.0 LUFS without it.
 */
const GAIN = 0.917;
/** Raised when the same line gives other samples than before. */
const SOUND_REVISION = 2;

/** The program to run, by default found on PATH, and how long one run may take. */
interface Program {
  readonly path?: string;
  readonly runMaxMs?: number;
}

/**
 * The voices of espeak-ng, named `espeak:<language>` as it names the language.
 * @returns null where the program is missing or does not work.
 */
export async function findEspeak({ path = PROGRAM, runMaxMs = RUN_MAX_MS }: Program = {}): Promise<Tts | null> {
  const program = { path, runMaxMs };
  try {
    const [list, version] = await Promise.all([run(program, ['--voices']), run(program, ['--version'])]);
    const number = /\d{1,9}(\.\d{1,9})+/.exec(version.toString('utf8'))?.[0] ?? 'unknown';
    const model = `espeak-ng-${number}-${SOUND_REVISION}`;
    const voices = readVoices(list.toString('utf8'), model);
    return voices.length === 0 ? null : new Espeak(program, voices, model);
  } catch {
    return null;
  }
}

/**
 * The voices in what `espeak-ng --voices` prints: one a line, the language in the second column. One voice for each
 * language.
 */
export function readVoices(list: string, model: string): VoiceInfo[] {
  const languages = list
    .split('\n')
    .slice(1)
    .flatMap((line) => /^\s*\d+\s+([a-z][a-z0-9-]*)\s/i.exec(line)?.[1] ?? []);
  return [...new Set(languages)].map((language) => ({
    name: `${VOICE_PREFIX}${language}`,
    language: canonical(language),
    rateHz: RATE_HZ,
    model,
    licence: LICENCE,
    cost: COST,
  }));
}

function canonical(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? language;
  } catch {
    return language;
  }
}

class Espeak implements Tts {
  readonly name: string;
  readonly voices: readonly VoiceInfo[];
  readonly #program: Required<Program>;

  constructor(program: Required<Program>, voices: readonly VoiceInfo[], model: string) {
    this.#program = program;
    this.voices = voices;
    this.name = model;
  }

  /** Pauses while the program runs, and ends the program when the job is cancelled. */
  async *speak({ text, voice, speed }: Line): Steps<Sound> {
    const wpm = Math.min(Math.max(Math.round(USUAL_WPM * speed), WPM_MIN), WPM_MAX);
    const abort = new AbortController();
    const programArguments = [
      '-v',
      voice.slice(VOICE_PREFIX.length),
      '-s',
      String(wpm),
      '-b',
      '1',
      '-z',
      '--stdin',
      '--stdout',
    ];
    const output = run(this.#program, programArguments, { input: plain(text), signal: abort.signal });
    try {
      yield { until: Promise.allSettled([output]) };
      const samples = amplify(readSamples((await output).subarray(WAV_HEADER_BYTES)), GAIN);
      return { samples: trimSilence(samples, { rateHz: RATE_HZ, pauseMs: pauseAfter(text) / speed }), rateHz: RATE_HZ };
    } finally {
      abort.abort();
    }
  }
}

/** Removes what the program would take for phonemes (`[[…]]`) or for a key press (control characters). */
function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').replace(/\[\[+/g, '[');
}

interface RunOptions {
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/**
 * The program looks for a sound server whatever it is to do; by that it reads the machine's id and leaves folders in
 * the user's home.
 */
const NO_SOUND_SERVER = { PULSE_SERVER: 'unix:/dev/null', PULSE_CLIENTCONFIG: '/dev/null' };

/** What the program writes to its standard output; `input` goes to its standard input. No shell is involved. */
function run(
  { path, runMaxMs }: Required<Program>,
  programArguments: readonly string[],
  options: RunOptions = {},
): Promise<Buffer> {
  const { input = '', signal } = options;
  return new Promise((resolve, reject) => {
    const limits = {
      encoding: 'buffer',
      timeout: runMaxMs,
      killSignal: 'SIGKILL',
      maxBuffer: OUTPUT_MAX_BYTES,
      env: { ...process.env, ...NO_SOUND_SERVER },
    } as const;
    const child = execFile(path, programArguments, { ...limits, ...(signal && { signal }) }, (error, output) => {
      if (error === null) resolve(output);
      else reject(new Error(reasonOf(error, runMaxMs)));
    });
    // A program that ends before it has read everything says so by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Without the command line and what the program wrote: they may hold speech. */
function reasonOf(error: ExecFileException, runMaxMs: number): string {
  if (error.killed) return `${PROGRAM} was ended because it took longer than ${runMaxMs} ms`;
  return `${PROGRAM} failed: ${error.code ?? error.signal ?? 'no reason given'}`;
}
