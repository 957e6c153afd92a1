/** `trunkline doctor --capacity`: how many calls does this machine hold? */
import type { Settings } from '../foundation/settings/settings.ts';
import { type Capacity, type CapacityStep, LATE_MAX_MS, measureCapacity, SPEECH_SHARE } from './capacity/measure.ts';
import { Interruption } from './interruption.ts';
import type { Terminal } from './terminal.ts';

const COLUMN_CHARS = [7, 8, 20, 20];

/** Measures, showing each step as it is done unless `quiet`. Null = it was interrupted. */
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
  say(
    `How many calls does this machine hold? Simulated callers on it, who speak ${100 * SPEECH_SHARE} % of ` +
      'the time, find out in a minute or two.',
  );
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

/** What it comes to, for people. */
export function sumUp(
  { calls, isLimit, steps }: Capacity,
  { MAX_CALLS, ENDPOINT_MS }: Pick<Settings, 'MAX_CALLS' | 'ENDPOINT_MS'>,
): string[] {
  if (calls === 0)
    return [
      '',
      `This machine does not hold ${steps[0]?.calls ?? 1} calls: finals come more than ${LATE_MAX_MS} ms ` +
        'late. It needs more cores.',
    ];
  const lateMs = Math.max(0, Math.round(steps.find((step) => step.held && step.calls === calls)?.lateP95Ms ?? 0));
  return [
    '',
    `This machine holds ${isLimit ? '' : 'at least '}${calls} calls: 95 % of the finals came at most ` +
      `${lateMs} ms after the ${ENDPOINT_MS} ms of silence that end an utterance.`,
    `Set MAX_CALLS=${calls}, or less: it is ${MAX_CALLS} now. Measured were captions of one side of each ` +
      'call, while the callers took their share of the',
    'same machine. Both sides, an app, speech, recordings or other programs take more; callers elsewhere take less.',
  ];
}

function explainStep({ held, gaps, refused }: CapacityStep): string {
  if (held) return '';
  if (refused > 0) return `  too many: ${refused} not taken`;
  return gaps > 0 ? `  too many: ${gaps} finals missing` : '  too many: too late';
}

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, index) => String(cell).padStart(COLUMN_CHARS[index] ?? 0)).join('');
}

function figure(ms: number | null): string {
  return ms === null ? '–' : String(Math.round(ms));
}
