/** REDACT_PATTERNS_FILE: the operator's own patterns of what is masked. */
import { readFileSync, statSync } from 'node:fs';
import { networkCode } from '../foundation/guarded-fetch.ts';
import { ConfigError } from '../foundation/settings/config.ts';
import { NO_PATTERNS, type OwnPatterns, readOwnPatterns } from './redaction/own-patterns.ts';

const FILE_MAX_BYTES = 262_144;

/** The operator's patterns; none where `path` is empty. @throws ConfigError when they cannot be used */
export function readPatternsFile(path: string): OwnPatterns {
  if (path === '') return NO_PATTERNS;
  const { patterns, problems } = readOwnPatterns(readBoundedFile(path));
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `REDACT_PATTERNS_FILE: ${problem}`));
  return patterns;
}

function readBoundedFile(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > FILE_MAX_BYTES)
      throw new ConfigError([`REDACT_PATTERNS_FILE: got ${size} bytes, expected at most ${FILE_MAX_BYTES}`]);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([
      `REDACT_PATTERNS_FILE: got ${JSON.stringify(path)}, expected a file that can be read (${networkCode(error)})`,
    ]);
  }
}
