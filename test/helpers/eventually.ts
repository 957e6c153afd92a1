import { vi } from 'vitest';

/** Longer than anything takes on a slow machine that does other things too, and shorter than a test may take. */
export const PATIENCE_MS = 15_000;

/** Resolves when `check` throws no more; rejects with what it threw last when it never does. */
export const eventually = (check: () => unknown): Promise<unknown> =>
  vi.waitFor(check, { interval: 5, timeout: PATIENCE_MS });
