/** How many engine processes a machine gets. */

const MOST_WORKERS = 8;

/**
 * Engine processes for a machine with `cores` cores, each running its models in one thread. Two cores get two: the
 * gateway takes a few per cent of one, and leaving a core to it would halve the capacity. Larger machines keep one core
 * for the gateway, which then feeds many engines; beyond eight (about 200 MB each) the operator should say so with
 * ENGINE_WORKERS.
 */
export function defaultWorkers(cores: number): number {
  if (cores <= 2) return Math.max(cores, 1);
  return Math.min(cores - 1, MOST_WORKERS);
}

/** Engine processes on `cpus` processors that the operator set aside for them: the gateway has others. */
export function pinnedWorkers(cpus: number): number {
  return Math.min(cpus, MOST_WORKERS);
}
