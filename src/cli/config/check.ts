/** `trunkline config check`: whether the settings can be used. */
import { findWarnings } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { EXIT_OK } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

/** Prints what `settings`, which can be used, come from, and what an operator should know about them. */
export function checkConfig(settings: Settings, { out }: Terminal): number {
  const { filePath, fromFile, fromEnvironment } = settings.sources;
  const names = Object.keys(fromFile);
  out.line(
    filePath === null
      ? `There is no trunkline.yaml. ${countOf(fromEnvironment.length)} in the environment: all can be used.`
      : `${filePath}: ${countOf(names.length)}, all can be used.`,
  );
  const hidden = fromEnvironment.filter((name) => names.includes(name));
  if (filePath !== null && hidden.length > 0)
    out.line(`The environment sets these otherwise, and wins: ${hidden.join(', ')}.`);
  for (const warning of findWarnings(settings)) out.line(`Warning: ${warning}`);
  return EXIT_OK;
}

function countOf(settings: number): string {
  return settings === 1 ? '1 setting' : `${settings} settings`;
}
