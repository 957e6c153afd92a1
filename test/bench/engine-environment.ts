/** For benchmarks that run models in their own process and compare them with engines. */
import { spawnSync } from 'node:child_process';
import { ENGINE_ENVIRONMENT } from '../../src/engine-client/engine-fork.ts';

/**
 * Sees to it that this process runs in the environment that the gateway gives its engines, which malloc reads before
 * anything else: runs the same command anew where it does not, and then ends this process.
 */
export function requireEngineEnvironment(): void {
  const isThere = Object.entries(ENGINE_ENVIRONMENT).every(([name, value]) => process.env[name] === value);
  if (isThere) return;
  const { status } = spawnSync(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, ...ENGINE_ENVIRONMENT },
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}
