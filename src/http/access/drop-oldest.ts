/** Names remembered. The one that was idle longest is forgotten first. */
export const NAMES_MAX = 10_000;

/** Keeps the newest {@link NAMES_MAX}. */
export function dropOldest(names: Map<string, unknown> | Set<string>): void {
  for (const oldest of names.keys()) {
    if (names.size <= NAMES_MAX) return;
    names.delete(oldest);
  }
}
