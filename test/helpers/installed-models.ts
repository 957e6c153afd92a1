import type { Family } from '../../engine/models/bridge.ts';
import { findInstalled } from '../../engine/models/installed.ts';

/** Models that tests may use, in a folder like MODELS_DIR; '' = none. The operator's own is never looked into. */
export const TEST_MODELS_DIR = process.env['TRUNKLINE_TEST_MODELS'] ?? '';

/** Why tests of a model do not run here, to be put behind their name; '' = it is there. */
export function whyNotRun(family: Family): string {
  return findInstalled(TEST_MODELS_DIR, family).length > 0 ? '' : ` (not run: TRUNKLINE_TEST_MODELS has no ${family})`;
}
