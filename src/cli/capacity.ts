/** `trunkline doctor --capacity`: measures how many calls this machine can hold. */
import type { Settings } from '../foundation/settings/settings.ts';
import {
  type Capacity,
  type CapacityStep,
  FALLBACK_MAX_SHARE,
  LATE_MAX_MS,
  measureCapacity,
  SPEECH_SHARE,
} from './capacity/measure.ts';
import { Interruption } from './interruption.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './wrap.ts';

const COLUMN_CHARS = [5, 8, 10, 13, 11];

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
  for (const line of introduce(settings)) say(line);
  try {
    const onTrying = (calls: number) =>
      err.live([{ text: calls === 0 ? 'Loading the speech models…' : `${calls} calls…` }]);
    const onStep = (step: CapacityStep) => {
      err.live([]);
      say(stepLine(step));
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

function introduce({ ASR_MODEL, ASR_FINAL_MODEL }: Settings): string[] {
  const hasTwo = ASR_FINAL_MODEL !== '';
  const models = hasTwo
    ? [`Live captions by ${ASR_MODEL}`, `Finals by ${ASR_FINAL_MODEL}`]
    : [`Captions by ${ASR_MODEL}`];
  return [
    ...models,
    ...wrap(
      `Measuring with simulated callers, who speak ${100 * SPEECH_SHARE} % of the time. This takes a minute or two. ` +
        '95 % of the finals are at most so late, and of the partial captions' +
        (hasTwo ? `; finals that fell back are by ${ASR_MODEL}.` : '.'),
    ),
    row(['calls', 'finals', 'late, ms', 'partials, ms', ...(hasTwo ? ['fell back'] : [])]),
  ];
}

/** One step for people, at most 80 columns. */
export function stepLine(step: CapacityStep): string {
  const { calls, finals, lateP95Ms, partialLagP95Ms, fallbackShare } = step;
  const fellBack = fallbackShare === null ? [] : [percent(fallbackShare)];
  return row([calls, finals, figure(lateP95Ms), figure(partialLagP95Ms), ...fellBack]) + explainStep(step);
}

/** The result for people, at most 80 columns. */
export function sumUp(
  capacity: Capacity,
  { MAX_CALLS, ENDPOINT_CAPTIONS_MS }: Pick<Settings, 'MAX_CALLS' | 'ENDPOINT_CAPTIONS_MS'>,
): string[] {
  const { calls, isLimit, steps, models } = capacity;
  if (calls === 0) return ['', ...wrap(explainNone(capacity))];
  const step = steps.find((each) => each.held && each.calls === calls);
  const lateMs = Math.max(0, Math.round(step?.lateP95Ms ?? 0));
  const share = step?.fallbackShare ?? null;
  const byFinal = share === null ? '' : ` ${percent(share)} of them fell back to ${models.live}.`;
  return [
    '',
    ...wrap(
      `This machine holds ${isLimit ? '' : 'at least '}${calls} calls with ${modelsOf(models)}: 95 % of the finals ` +
        `came at most ${lateMs} ms after the ${ENDPOINT_CAPTIONS_MS} ms of silence that end an utterance.${byFinal}`,
    ),
    ...wrap(
      `Set MAX_CALLS=${calls} or less (it is ${MAX_CALLS} now). One side of each call was captioned, and the ` +
        'simulated callers ran on this machine too. Captions of both sides, an app, speech, recordings and other ' +
        'programs need more CPU time; callers on other machines need less.',
    ),
  ];
}

function explainNone({ steps, models, fallbackMaxShare }: Capacity): string {
  const step = steps[0];
  const calls = step?.calls ?? 1;
  const share = step?.fallbackShare ?? 0;
  if (models.final !== null && share > fallbackMaxShare)
    return (
      `This machine is too small for ${models.final}: with ${calls} calls ${percent(share)} of the finals fell back ` +
      `to ${models.live}; at most ${percent(fallbackMaxShare)} may. Choose a smaller ASR_FINAL_MODEL, or ` +
      'take more cores.'
    );
  return (
    `This machine does not hold ${calls} calls with ${modelsOf(models)}: finals are more than ${LATE_MAX_MS} ms ` +
    'late. It needs more cores.'
  );
}

function modelsOf({ live, final }: Capacity['models']): string {
  return final === null ? live : `${live} and finals by ${final}`;
}

function explainStep({ held, gaps, refused, fallbackShare }: CapacityStep): string {
  if (held) return '';
  if (refused > 0) return `  too many: ${refused} calls refused`;
  if (gaps > 0) return `  too many: ${gaps} finals missing`;
  return (fallbackShare ?? 0) > FALLBACK_MAX_SHARE ? '  too many: too many fell back' : '  too many: too late';
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, index) => String(cell).padStart(COLUMN_CHARS[index] ?? 0)).join('');
}

function figure(ms: number | null): string {
  return ms === null ? '–' : String(Math.round(ms));
}
