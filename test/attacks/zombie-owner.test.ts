/** Gateways that were killed, and whether the next one gets what was theirs. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';

const PRETEND = {
  ASR_MODEL: 'tone',
  VAD_MODEL: 'tone',
  TTS_MODEL: 'tone',
  ENGINE_WORKERS: '1',
  ENGINE_PRELOAD: 'false',
};
/** A parent that never reaps its child. */
const UNREAPED = ['sh', '-c', '"$@" & exec sleep 1000', 'sh'];
/** Process 1 of a namespace of its own, as in a container. */
const CONTAINED = ['unshare', ...(process.getuid?.() === 0 ? [] : ['-r']), '-p', '-f', '--kill-child'];
const CAN_CONTAIN = spawnSync(CONTAINED[0] ?? '', [...CONTAINED.slice(1), 'true']).status === 0;

let folder: string;
const gateways: GatewayProcess[] = [];
const orphans: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(async () => {
  for (const pid of orphans.splice(0)) process.kill(pid, 'SIGKILL');
  for (const gateway of gateways.splice(0)) await gateway.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function start(
  environment: Readonly<Record<string, string>>,
  through: readonly string[] = [],
): Promise<GatewayProcess> {
  const gateway = await startGateway({ ...PRETEND, TMPDIR: folder, ...environment }, through);
  gateways.push(gateway);
  return gateway;
}

/** What the gateway takes its process id for. */
const ownPid = ({ logLines }: GatewayProcess) => Number(logLines.find(({ msg }) => msg === 'listening')?.['pid']);
const isZombie = (pid: number) => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''));
const foldersOf = (prefix: string) => readdirSync(folder).filter((name) => name.startsWith(prefix));

/** Begins an upload that never ends. */
function uploadForEver({ url }: GatewayProcess): void {
  const upload = request(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  upload.on('error', () => undefined);
  upload.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n');
  upload.write('x'.repeat(100_000));
}

describe('a gateway that was killed', () => {
  it('and that its parent does not reap keeps nothing from the next one', async () => {
    const shared = { BATCH_DIR: join(folder, 'batches'), PROMPT_CACHE_DIR: join(folder, 'prompts') };
    const first = await start(shared, UNREAPED);
    const pid = ownPid(first);
    orphans.push(pid);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => isZombie(pid)).toBe(true);
    const second = await start(shared);
    expect(second.logLines.filter(({ msg }) => String(msg).includes('in use'))).toEqual([]);
    expect(isZombie(pid)).toBe(true);
  });

  // Without namespaces test/recordings/recordings.test.ts shows the same of a folder.
  it.runIf(CAN_CONTAIN)('has its uploads removed by the next one, also where both are process 1', async () => {
    const first = await start({}, CONTAINED);
    expect(ownPid(first)).toBe(1);
    uploadForEver(first);
    const uploads = () => foldersOf('trunkline-recordings-');
    await expect
      .poll(() =>
        uploads().flatMap((name) => readdirSync(join(folder, name)).filter((file) => !file.startsWith('owner.'))),
      )
      .toHaveLength(1);
    await first.stop('SIGKILL');
    expect(uploads()).toHaveLength(1);
    const second = await start({}, CONTAINED);
    expect(ownPid(second)).toBe(1);
    await expect.poll(uploads).toEqual([]);
  });

  it('leaves no temporary batches behind', async () => {
    const first = await start({});
    await fetch(`${first.url}/v1/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"inputs":[{"path":"a"}]}',
    });
    const [left = ''] = foldersOf('trunkline-batches-');
    expect(left).not.toBe('');
    await first.stop('SIGKILL');
    expect(existsSync(join(folder, left))).toBe(true);
    await start({});
    await expect.poll(() => foldersOf('trunkline-batches-')).toEqual([]);
  });
});

describe('a gateway that lives', () => {
  it('keeps its folders, also while it is stopped, and the next one says whose they are', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    const living = await start({ BATCH_DIR: one });
    const stopped = await start({ PROMPT_CACHE_DIR: two });
    process.kill(stopped.pid, 'SIGSTOP');
    const refused = (environment: Readonly<Record<string, string>>) =>
      start(environment).catch((error: unknown) => String(error));
    const [first, second] = await Promise.all([refused({ BATCH_DIR: one }), refused({ PROMPT_CACHE_DIR: two })]);
    process.kill(stopped.pid, 'SIGCONT');
    expect(first).toMatch(new RegExp(`ended with 78 .*BATCH_DIR.*in use by process ${living.pid} on `, 's'));
    expect(second).toMatch(new RegExp(`ended with 78 .*PROMPT_CACHE_DIR.*in use by process ${stopped.pid} on `, 's'));
    expect(await living.stop()).toBe(0);
    await start({ BATCH_DIR: one });
  });
});
