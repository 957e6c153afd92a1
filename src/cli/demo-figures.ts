/** Prints the demo's latencies and CPU use, in words for people who are new to captions. */
import type { Settings } from '../foundation/settings/settings.ts';
import { type Latencies, quantile } from './latencies.ts';
import type { Output } from './terminal.ts';

const LABEL_CHARS = 44;

/** The time that a call took, and its model runs. */
export interface CallCost {
  readonly audioMs: number;
  /** From the first audio to the last caption. */
  readonly elapsedMs: number;
  /** All model runs, in seconds of one core. */
  readonly runSeconds: number;
}

/** Prints the latencies of the captions of a call in real time, and its CPU use. */
export function printLatencies(
  latencies: Latencies,
  cost: CallCost,
  { ENDPOINT_CAPTIONS_MS }: Pick<Settings, 'ENDPOINT_CAPTIONS_MS'>,
  out: Output,
): void {
  const { firstPartial, partialLag, speechToFinal } = latencies;
  out.line();
  out.line(out.bold('How fast') + out.dim('  (median, maximum)'));
  printRow('First words, after somebody begins to speak', firstPartial, out);
  printRow('New words, after they were said', partialLag, out);
  printRow('A whole sentence, after its end', speechToFinal, out);
  if (speechToFinal.length > 0)
    out.line(
      out.dim(`    ${ENDPOINT_CAPTIONS_MS} ms of that are the silence that ends a sentence (ENDPOINT_CAPTIONS_MS)`),
    );
  printWork(cost, out);
}

/** Prints the speed of a call that was faster than real time. Its captions have no meaningful latency. */
export function printSpeed(cost: CallCost, out: Output): void {
  const { audioMs, elapsedMs } = cost;
  out.line();
  out.line(out.bold('How fast'));
  out.line(`  ${seconds(audioMs)} of call in ${seconds(elapsedMs)}. Latencies need real time: leave out --fast`);
  printWork(cost, out);
}

function printRow(label: string, values: readonly number[], out: Output): void {
  const [usual, worst] = [quantile(values, 0.5), quantile(values, 1)];
  if (usual !== null && worst !== null)
    out.line(`  ${label.padEnd(LABEL_CHARS)}${milliseconds(usual)}${milliseconds(worst)}`);
}

function printWork({ audioMs, runSeconds }: CallCost, out: Output): void {
  const share = Math.round((100_000 * runSeconds) / audioMs);
  out.line(`  ${'CPU time of the speech models'.padEnd(LABEL_CHARS)}${`${share} %`.padStart(8)} of one core`);
}

function milliseconds(ms: number): string {
  return `${Math.round(ms)} ms`.padStart(9);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
