/** What the detectors of tones make of human prompts that hold none, and what they cost. */
import { readdirSync, readFileSync } from 'node:fs';
import { BeepDetector } from '../../../src/audio/tones/beeps.ts';
import { FaxToneDetector } from '../../../src/audio/tones/fax-tones.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { LINE_RATE_HZ } from '../../helpers/signals.ts';
import { figure, type Table } from '../report.ts';
import { HUMANS, SOUNDS } from './callees.ts';

const CHUNK = 160;
/** Prompts that are tones. */
const TONES = /beep|tone|confbridge-(join|leave)/;

/** Runs both detectors over every prompt of Debian in four languages. */
export function tonesTable(): Table {
  const prompts = Object.values(HUMANS).flatMap(promptsOf);
  let [fax, beeps, seconds, faxMs, beepMs] = [0, 0, 0, 0, 0];
  for (const samples of prompts) {
    const found = {
      fax: new FaxToneDetector({ rateHz: LINE_RATE_HZ, callingTones: 1 }),
      beeps: new BeepDetector(LINE_RATE_HZ),
    };
    seconds += samples.length / LINE_RATE_HZ;
    faxMs += timeOf(samples, (chunk) => (fax += Number(found.fax.push(chunk) !== null)));
    beepMs += timeOf(samples, (chunk) => (beeps += Number(found.beeps.push(chunk) !== null)));
  }
  return {
    title: 'Tones that are none',
    heads: ['', 'hours of human prompts', 'found in them', '% of a core for one call'],
    rows: [
      ['fax tones, in all calls', figure(seconds / 3600), fax, (faxMs / seconds / 10).toFixed(3)],
      ['beeps, while one is waited for', figure(seconds / 3600), beeps, (beepMs / seconds / 10).toFixed(3)],
    ],
  };
}

function promptsOf(folder: string): Int16Array[] {
  let names: string[] = [];
  try {
    names = readdirSync(`${SOUNDS}/${folder}`, { recursive: true }).map(String);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.wav') && !TONES.test(name))
    .map((name) => {
      const [samples = new Int16Array(0)] = readWav(readFileSync(`${SOUNDS}/${folder}/${name}`)).channels;
      const withPause = new Int16Array(samples.length + LINE_RATE_HZ);
      withPause.set(samples);
      return withPause;
    });
}

function timeOf(samples: Int16Array, take: (chunk: Int16Array) => unknown): number {
  const startMs = performance.now();
  for (let at = 0; at < samples.length; at += CHUNK) take(samples.subarray(at, at + CHUNK));
  return performance.now() - startMs;
}
