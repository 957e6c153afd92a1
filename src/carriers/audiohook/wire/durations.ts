/** Durations as AudioHook writes them: ISO 8601 with seconds alone, `PT1.2S`. */

const SECONDS = /^PT(\d{1,9}(?:\.\d{1,9})?)S$/;

/** Whole ms as a duration; ends of seconds without zeros. */
export function writeDuration(ms: number): string {
  return `PT${Math.max(Math.round(ms), 0) / 1000}S`;
}

/** In ms; null = it is none. */
export function readDuration(value: unknown): number | null {
  const seconds = typeof value === 'string' ? SECONDS.exec(value)?.[1] : undefined;
  return seconds === undefined ? null : Number(seconds) * 1000;
}
