/**
 * What hold-ups make of AudioSocket's sound, reckoned on a clock of the test: the same on every machine, however busy
 * it is.
 */
import { audioSocketCall, holdUp } from '../helpers/paced-call.ts';
import { figure, type Table } from './report.ts';

const MINUTE_MS = 60_000;
/** A sentence of 1.5 s, then silence for 2.5 s. */
const SENTENCE_MS = 1500;
const TURN_MS = 4000;
const CASES = [
  { ms: 40, everyMs: 453 },
  { ms: 60, everyMs: 453 },
  { ms: 70, everyMs: 453 },
  { ms: 70, everyMs: 70 },
  { ms: 90, everyMs: 453 },
  { ms: 150, everyMs: 453 },
];

/**
 * A row for each kind of hold-up: what of a minute Asterisk makes gaps of, the longest time without a frame, and what a
 * phone has to hold.
 */
export function modelTable(): Table {
  return {
    title: 'Reckoned: one minute of a call over AudioSocket, a sentence every 4 s',
    heads: [
      'hold-ups, ms',
      'one every, ms',
      'gaps that are heard',
      'longest time without a frame, ms',
      'most that came too early, ms',
    ],
    rows: CASES.map(({ ms, everyMs }) => {
      const { clock, speak, frames, gapsMs, mostAheadMs } = audioSocketCall();
      for (let atMs = 0; atMs < MINUTE_MS; atMs += TURN_MS) {
        speak(SENTENCE_MS);
        holdUp(clock, ms, everyMs, TURN_MS);
      }
      const waitsMs = frames.slice(1).map(({ atMs }, i) => atMs - (frames[i]?.atMs ?? atMs));
      return [ms, everyMs, gapsMs.length, figure(Math.max(...waitsMs)), figure(mostAheadMs())];
    }),
  };
}
