/** What people read of all parts. */
import type { Finding } from '../foundation/finding.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { WayInRow } from '../http/system/ways-in.ts';
import type { CarrierName, Part } from './part.ts';

/** What calls of `parts` are named, in the order of the guide. */
export function carriersOf(parts: readonly Part[]): CarrierName[] {
  return parts.flatMap(({ carriers = [] }) => carriers);
}

/** The rows of *Ways in*. */
export function waysInOf(parts: readonly Part[]): WayInRow[] {
  return parts.flatMap(({ waysIn = [] }) => waysIn);
}

/** The lines of `trunkline doctor` that `parts` know of. */
export function checksOf(parts: readonly Part[], settings: Settings): (() => Promise<Finding[]>)[] {
  return parts.flatMap(({ check }) => (check === undefined ? [] : [() => check(settings)]));
}
