import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { cliEnvironment } from '../helpers/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'trunkline-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Every process that `pid` began and that is still there. */
function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );
}

describe('trunkline doctor --capacity', () => {
  it('stops at Ctrl-C and leaves nothing behind: no file, no process', async () => {
    const env = cliEnvironment({ HOME: folder, TMPDIR: folder });
    const child = spawn(process.execPath, [packagePath('dist', 'src', 'cli.js'), 'doctor', '--capacity'], { env });
    const ended = once(child, 'exit');
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    // The first number of calls was tried, so that everything runs by now.
    await expect.poll(() => out, { timeout: 40_000 }).toMatch(/^ *calls +finals .*\n +\d+ +[1-9]\d* /m);
    const engines = childrenOf(child.pid ?? 0);
    expect(engines.length).toBeGreaterThan(0);
    child.kill('SIGINT');
    expect((await ended)[0]).toBe(130);
    expect(out).not.toContain('This machine');
    await expect.poll(() => engines.filter(isAlive)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  }, 60_000);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
