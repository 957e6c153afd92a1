/**
 * From a transcriber's time, which counts the samples that it was given, to the time of the call. The two differ once
 * nothing came for so long that not all of the gap was filled with silence (GAP_MAX_MS): a caller on hold, or one who
 * is muted at a carrier that then sends nothing.
 */

/** Captions are about the last half minute or so; what was skipped long before that only adds up. */
const SKIPS_REMEMBERED = 32;

interface Skip {
  /** In the transcriber's time: what lies behind this. */
  readonly fromMs: number;
  /** All that was skipped up to and with this one. */
  readonly totalMs: number;
}

/** What was skipped on one track. */
export class SkippedTime {
  readonly #skips: Skip[] = [];
  #forgottenMs = 0;

  /** All that was skipped. */
  get totalMs(): number {
    return this.#skips.at(-1)?.totalMs ?? 0;
  }

  /** At `atMs` of the transcriber's time it became `totalMs` in all. Nothing happens where that is known already. */
  add(atMs: number, totalMs: number): void {
    if (totalMs === this.totalMs) return;
    this.#skips.push({ fromMs: atMs, totalMs });
    if (this.#skips.length > SKIPS_REMEMBERED) this.#forgottenMs = this.#skips.shift()?.totalMs ?? 0;
  }

  /** The time of the call, in whole ms, at `atMs` of the transcriber's time. */
  toCallMs(atMs: number): number {
    const skip = this.#skips.findLast(({ fromMs }) => atMs > fromMs);
    return Math.round(atMs + (skip?.totalMs ?? this.#forgottenMs));
  }
}
