/** Runs the built `trunkline` command as a user does. */
import { execFile } from 'node:child_process';
import { packagePath } from '../../src/foundation/folders/paths.ts';

/** How a command ended. */
export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What a command finds in its environment: pretend models, and `more`. */
export function cliEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  return {
    PATH: process.env['PATH'],
    ASR_MODEL: 'tone',
    VAD_MODEL: 'tone',
    MODELS_DIR: 'none',
    DATA_DIR: 'none',
    ENGINE_WORKERS: '1',
    ...more,
  };
}

/**
 * Runs `trunkline ...args` from `dist` with pretend models and nothing else in the environment but `environment`.
 * `input` = its standard input.
 */
export function runBuiltCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CliResult> {
  const env = cliEnvironment(environment);
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [packagePath('dist', 'src', 'cli.js'), ...args],
      { env },
      (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err });
      },
    );
    // A command that reads nothing may have ended.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
