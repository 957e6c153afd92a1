/** `trunkline doctor --capacity`: measures how many calls this machine can hold. */
import type { Settings } from '../foundation/settings/settings.ts';
import { type Capacity, type CapacityStep, LATE_MAX_MS, measureCapacity, SPEECH_SHARE } from './capacity/measure.ts';
import { Interruption } from './interruption.ts';
import type { Terminal } from './terminal.ts';

const COLUMN_CHARS = [7, 8, 20, 20];

/** Measures the capacity and shows each step, unless `quiet`. Null = interrupted. */
export async function showCapacity(
  settings: Settings,
  options: { readonly quiet: boolean },
  { out, err }: Terminal,
): Promise<Capacity | null> {
  const control = new AbortController();
  const interruption = new Interruption(() => control.abort());
  const say = (line: string) => {
    if (!options.quiet) out.line(line);
  };
  say('');
  say(`Captions by ${recognisersOf(settings)}.`);
  say(`Measuring with simulated callers, who speak ${100 * SPEECH_SHARE} % of the time. This takes a minute or two.`);
  say(row(['calls', 'finals', 'final late p95, ms', 'partial lag p95, ms']));
  try {
    const onTrying = (calls: number) =>
      err.live([{ text: calls === 0 ? 'Loading the speech models…' : `${calls} calls…` }]);
    const onStep = (step: CapacityStep) => {
      err.live([]);
      say(row([step.calls, step.finals, figure(step.lateP95Ms), figure(step.partialLagP95Ms)]) + explainStep(step));
    };
    const capacity = await measureCapacity({ settings, signal: control.signal, onTrying, onStep });
    for (const line of sumUp(capacity, settings)) say(line);
    return capacity;
  } catch (error) {
    if (interruption.came) return null;
    throw error;
  } finally {
    err.live([]);
    interruption.ignore();
  }
}

function recognisersOf({ ASR_MODEL, ASR_FINAL_MODEL }: Settings): string {
  return ASR_FINAL_MODEL === '' ? ASR_MODEL : `${ASR_MODEL}, finals by ${ASR_FINAL_MODEL}`;
}

/** The result for people. */
export function sumUp(
  { calls, isLimit, steps }: Capacity,
  { MAX_CALLS, ENDPOINT_CAPTIONS_MS }: Pick<Settings, 'MAX_CALLS' | 'ENDPOINT_CAPTIONS_MS'>,
): string[] {
  if (calls === 0)
    return [
      '',
      `This machine does not hold ${steps[0]?.calls ?? 1} calls: finals are more than ${LATE_MAX_MS} ms ` +
        'late. It needs more cores.',
    ];
  const lateMs = Math.max(0, Math.round(steps.find((step) => step.held && step.calls === calls)?.lateP95Ms ?? 0));
  return [
    '',
    `This machine holds ${isLimit ? '' : 'at least '}${calls} calls: 95 % of the finals came at most ` +
      `${lateMs} ms after the ${ENDPOINT_CAPTIONS_MS} ms of silence that end an utterance.`,
    `Set MAX_CALLS=${calls} or less (it is ${MAX_CALLS} now). One side of each call was captioned, and the simulated`,
    'callers ran on this machine too. Captions of both sides, an app, speech, recordings and other programs need',
    'more CPU time; callers on other machines need less.',
  ];
}

function explainStep({ held, gaps, refused }: CapacityStep): string {
  if (held) return '';
  if (refused > 0) return `  too many: ${refused} calls refused or ended early`;
  return gaps > 0 ? `  too many: ${gaps} finals missing` : '  too many: too late';
}

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, index) => String(cell).padStart(COLUMN_CHARS[index] ?? 0)).join('');
}

function figure(ms: number | null): string {
  return ms === null ? '–' : String(Math.round(ms));
}
