import { ConfigError, readSettings } from '../../src/foundation/settings/config.ts';

/** What is wrong with these settings, one line each; empty = nothing. */
export function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readSettings(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
