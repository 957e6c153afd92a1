/**
 * Whether human speech presses keys (ITU-T Q.24: digit simulation by speech): Debian's prompts of several languages
 * over a µ-law line, at several levels, through what finds keys in sound.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DtmfDetector } from '../../src/audio/dtmf-detector.ts';
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { readWav } from '../../src/audio/wav.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { figure, type Report } from './report.ts';

const SOUNDS = '/usr/share/asterisk/sounds';
/** As their packages name them; languages beside these are links to them. */
const VOICES = ['en_US_f_Allison', 'es_MX_f_Allison', 'fr_CA_f_June', 'it_IT_m_Carlo'];
/** As they are, 9 dB quieter, and 8 dB louder, so that they clip. */
const GAINS = [1, 0.35, 2.5];
const SECONDS_PER_HOUR = 3600;
const LIMIT = 32_767;

interface Heard {
  seconds: number;
  keys: number;
  workMs: number;
}

/** Runs the benchmark on every `every`-th prompt. @throws Error when none is installed */
export async function benchKeys({ every }: { readonly every: number }): Promise<Report> {
  const rows: (string | number)[][] = [];
  const all: Heard = { seconds: 0, keys: 0, workMs: 0 };
  for (const voice of VOICES) {
    const heard = listen(voice, every);
    rows.push([voice, figure(heard.seconds / SECONDS_PER_HOUR, 2), heard.keys]);
    all.seconds += heard.seconds;
    all.keys += heard.keys;
    all.workMs += heard.workMs;
  }
  if (all.seconds === 0)
    throw new Error('This benchmark listens to prompts: apt-get install asterisk-core-sounds-en-wav');
  const hours = all.seconds / SECONDS_PER_HOUR;
  return {
    name: 'keys',
    about:
      "Human prompts of Debian's asterisk-core-sounds (en, es, fr, it) over a µ-law line, each at three levels, in " +
      `which no key is pressed: ${figure(hours, 2)} h. Finding keys takes ` +
      `${figure(all.workMs / all.seconds, 2)} ms for a second of sound.`,
    tables: [{ title: 'Keys that speech pressed', heads: ['voice', 'hours', 'keys'], rows }],
    goals: [{ goal: 'at most one key in an hour of speech', found: String(all.keys), met: all.keys <= hours }],
  };
}

function listen(voice: string, every: number): Heard {
  const heard: Heard = { seconds: 0, keys: 0, workMs: 0 };
  for (const path of wavsOf(voice).filter((_, index) => index % every === 0)) {
    const wav = readWav(readFileSync(path));
    const samples = wav.channels[0];
    if (samples === undefined || wav.rateHz !== LINE_RATE_HZ) continue;
    for (const gain of GAINS) {
      const loud = samples.map((sample) => Math.max(-LIMIT, Math.min(LIMIT, sample * gain)));
      const line = decodeG711(encodeG711(loud, MULAW_8K), MULAW_8K);
      const beganMs = performance.now();
      heard.keys += new DtmfDetector(LINE_RATE_HZ).push(line).length;
      heard.workMs += performance.now() - beganMs;
      heard.seconds += line.length / LINE_RATE_HZ;
    }
  }
  return heard;
}

function wavsOf(voice: string): string[] {
  try {
    const names = readdirSync(join(SOUNDS, voice), { recursive: true, encoding: 'utf8' });
    return names.filter((name) => name.endsWith('.wav')).map((name) => join(SOUNDS, voice, name));
  } catch {
    return [];
  }
}
