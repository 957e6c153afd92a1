import { msToSamples } from '../../foundation/units.ts';

/** About -18 dBov (RMS). */
const LEVEL = 6000;

/** A sine tone, 16-bit mono at `rateHz`. */
export function toneSamples(
  { toneHz, durationMs }: { readonly toneHz: number; readonly durationMs: number },
  rateHz: number,
): Int16Array {
  return Int16Array.from({ length: msToSamples(durationMs, rateHz) }, (_, i) =>
    Math.round(LEVEL * Math.sin((2 * Math.PI * toneHz * i) / rateHz)),
  );
}
