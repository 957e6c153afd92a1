/** A disk that is full, and files that cannot be opened: what an operator reads. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';

const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };

let folder: string;
let gateway: GatewayProcess | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

it('names the folder of a full disk, what is free there and what to do', async () => {
  const mount = 'mount -t tmpfs -o size=6m none "$0" && exec "$@"';
  const isRoot = process.getuid?.() === 0;
  const apart = ['unshare', ...(isRoot ? [] : ['-r']), '-m', 'sh', '-c', mount, folder];
  const running = await startGateway({ ...PRETEND, DATA_DIR: folder }, apart);
  gateway = running;
  const inside = join(`/proc/${running.pid}/root${folder}`, 'filler');
  expect(() => {
    for (;;) appendFileSync(inside, Buffer.alloc(4096));
  }).toThrow(/ENOSPC/);
  expect((await fetch(`${running.url}/v1/demo-call`, { method: 'POST' })).status).toBe(202);
  const reasons = () => running.logLines.map(({ reason }) => String(reason)).join('\n');
  await expect.poll(reasons).toMatch(/in \S+\/records, whose disk has \d+ bytes free: make room there/);
  const ready = (await (await fetch(`${running.url}/ready`)).json()) as { warnings: string[] };
  expect(ready.warnings.join()).toContain(`are free on the disk of ${folder}`);
});

it.each([48, 256])('says that %i open files are too few, and how to have more', (limit) => {
  const words = [process.execPath, packagePath('dist', 'src', 'cli.js'), 'serve'];
  const { status, stderr } = spawnSync('sh', ['-c', `ulimit -n ${limit}; exec "$@"`, 'sh', ...words], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([78, expect.stringContaining(`the limit of open files is ${limit} (ulimit -n)`)]);
});
