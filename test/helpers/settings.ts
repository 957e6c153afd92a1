/** Settings for tests, which may also change what is constant for operators. */
import { type ReadOptions, readSettings as read } from '../../src/foundation/settings/config.ts';
import { CONSTANTS, type Constants } from '../../src/foundation/settings/constants.ts';
import type { Settings } from '../../src/foundation/settings/settings.ts';

/** As the `readSettings` of the program; names of constants in `environment` change these. */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>> = {},
  options: ReadOptions = {},
): Settings {
  const { constants, others } = splitConstants(environment);
  return read(others, { ...options, constants });
}

/** What `environment` says of constants, and the rest of it. */
export function splitConstants<T extends string | undefined>(
  environment: Readonly<Record<string, T>>,
): { readonly constants: Partial<Constants>; readonly others: Readonly<Record<string, T>> } {
  const entries = Object.entries(environment);
  const changed = entries.filter(([name]) => name in CONSTANTS).map(([name, text]) => [name, readValue(text ?? '')]);
  const others = entries.filter(([name]) => !(name in CONSTANTS));
  return { constants: Object.fromEntries(changed) as Partial<Constants>, others: Object.fromEntries(others) };
}

function readValue(text: string): number | boolean {
  return text === 'true' || text === 'false' ? text === 'true' : Number(text);
}
