import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownerOf, ownFolder } from '../../../src/foundation/folders/folder-owner.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { eventually } from '../../helpers/eventually.ts';
import { outwait } from '../../helpers/outwait.ts';

let folder: string;
let clock: FakeClock;
const started: ChildProcess[] = [];
const pids: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
  clock = new FakeClock();
});

afterEach(() => {
  // Before their parents, without whom they are others' children.
  for (const pid of pids.splice(0)) process.kill(pid, 'SIGKILL');
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/**
 * A process that says its id, tries to own each folder that it is given as an argument or on a line of its own, and
 * says what came of it. For it the wait is over in a quarter of the time.
 */
const OWNER = `
  import { createInterface } from 'node:readline';
  import { systemClock } from ${JSON.stringify(packagePath('dist', 'src', 'foundation', 'clock.js'))};
  import { ownFolder } from ${JSON.stringify(packagePath('dist', 'src', 'foundation', 'folders', 'folder-owner.js'))};
  const clock = { ...systemClock, nowMs: () => 4 * systemClock.nowMs() };
  const own = (folder) =>
    ownFolder(folder, { clock })
      .then(() => 'owns', (error) => error.constructor.name)
      .then((what) => console.log(what, folder));
  setInterval(() => 0, 60_000);
  console.log('pid', process.pid);
  for (const folder of process.argv.slice(1)) void own(folder);
  createInterface({ input: process.stdin }).on('line', (folder) => void own(folder));
`;
const NODE = [process.execPath, '--input-type=module', '-e', OWNER, '--'];

interface Owner {
  readonly pid: number;
  readonly said: readonly string[];
  tell(path: string): void;
}

async function start(command: readonly string[]): Promise<Owner> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  await eventually(() => expect(said[0]).toMatch(/^pid /));
  const pid = Number(said[0]?.slice(4));
  pids.push(pid);
  return { pid, said, tell: (path) => child.stdin.write(`${path}\n`) };
}

const owns = (owner: Owner, path: string) => eventually(() => expect(owner.said).toContain(`owns ${path}`));
const stateOf = (pid: number) => / ([A-Z]) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''))?.[1];

/** A socket that nobody listens on any more. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.made`, resolve));
  renameSync(`${path}.made`, path);
  await new Promise((resolve) => server.close(resolve));
}

describe('a folder', () => {
  it('is owned until it is released, with a socket for this user alone, and leaves none behind', async () => {
    expect(await ownerOf(folder)).toBe('absent');
    const ownership = await ownFolder(folder, { clock });
    expect(await ownerOf(folder)).toBe('living');
    expect(statSync(join(folder, 'owner.sock')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(['owner.sock', 'owner.txt']);
    await ownership.release();
    expect(await ownerOf(folder)).toBe('absent');
    await (await ownFolder(folder, { clock })).release();
  });

  it('is refused while its owner lives, which is named, and taken as soon as that has gone', async () => {
    const first = await ownFolder(folder, { clock });
    const told: string[] = [];
    const refused = outwait(clock, ownFolder(folder, { clock, onWait: (who) => told.push(who) }));
    await expect(refused).rejects.toThrow(`in use by process ${process.pid} on ${hostname()}`);
    expect(told).toEqual([`process ${process.pid} on ${hostname()}`]);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(10_000);
    const second = ownFolder(folder, { clock });
    await eventually(() => expect(clock.pending).toBe(1));
    await first.release();
    await (await outwait(clock, second)).release();
  });

  it('is free when its owner was killed and nobody has taken note of that: a zombie', async () => {
    const owner = await start(['sh', '-c', '"$@" & exec sleep 1000', 'sh', ...NODE, folder]);
    await owns(owner, folder);
    expect(await ownerOf(folder)).toBe('living');
    process.kill(owner.pid, 'SIGKILL');
    await eventually(() => expect(stateOf(owner.pid)).toBe('Z'));
    expect(process.kill(owner.pid, 0)).toBe(true);
    // Its other threads may take a moment longer to end.
    await eventually(async () => expect(await ownerOf(folder)).toBe('dead'));
    expect(stateOf(owner.pid)).toBe('Z');
    await (await ownFolder(folder, { clock })).release();
  });

  it('stays that of an owner that was stopped, however many ask', async () => {
    const owner = await start([...NODE, folder]);
    await owns(owner, folder);
    process.kill(owner.pid, 'SIGSTOP');
    const asked = await Promise.all(Array.from({ length: 600 }, () => ownerOf(folder)));
    expect(new Set(asked)).toEqual(new Set(['living']));
    await expect(outwait(clock, ownFolder(folder, { clock }))).rejects.toThrow(`in use by process ${owner.pid} on`);
  });

  it('is owned by exactly one of many processes that want what a dead one left, every time', async () => {
    const folders = Array.from({ length: 12 }, (_, index) => join(folder, String(index)));
    for (const path of folders) {
      mkdirSync(path);
      await leaveSocket(join(path, 'owner.sock'));
      await leaveSocket(join(path, 'owner.00000000-0000-0000-0000-000000000000.claim'));
    }
    const owners = await Promise.all(Array.from({ length: 6 }, () => start(NODE)));
    for (const path of folders) for (const owner of owners) owner.tell(path);
    for (const path of folders) {
      const answers = () => owners.flatMap(({ said }) => said.filter((line) => line.endsWith(` ${path}`)));
      await eventually(() => expect(answers()).toHaveLength(owners.length));
      expect(answers().toSorted()).toEqual([
        ...Array.from({ length: owners.length - 1 }, () => `FolderRefused ${path}`),
        `owns ${path}`,
      ]);
      expect(readdirSync(path).toSorted()).toEqual(['owner.sock', 'owner.txt']);
    }
  });

  it('may lie so deep that no socket could be named by its path', async () => {
    const deep = join(folder, 'a'.repeat(120), 'b'.repeat(120));
    mkdirSync(deep, { recursive: true });
    const ownership = await ownFolder(deep, { clock });
    expect(existsSync(join(deep, 'owner.sock'))).toBe(true);
    await expect(outwait(clock, ownFolder(deep, { clock }))).rejects.toThrow(/in use/);
    await ownership.release();
    expect(readdirSync(deep)).toEqual(['owner.txt']);
  });

  it('does not lose its next owner to one whose socket was taken away by hand', async () => {
    const first = await ownFolder(folder, { clock });
    rmSync(join(folder, 'owner.sock'));
    const second = await ownFolder(folder, { clock });
    await first.release();
    expect(await ownerOf(folder)).toBe('living');
    await second.release();
  });

  it('is free where a file has the name of the socket', async () => {
    writeFileSync(join(folder, 'owner.sock'), 'copied by a backup');
    await (await ownFolder(folder, { clock })).release();
  });

  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a link to a file', (path: string) => symlinkSync(join(folder, 'another'), path)],
  ])('is owned where its note is %s, of which nothing is read or written', async (_what, plant) => {
    writeFileSync(join(folder, 'another'), 'as it was');
    plant(join(folder, 'owner.txt'));
    await ownFolder(folder, { clock });
    rmSync(join(folder, 'owner.txt'));
    plant(join(folder, 'owner.txt'));
    await expect(outwait(clock, ownFolder(folder, { clock }))).rejects.toThrow('in use by another process');
    expect(readFileSync(join(folder, 'another'), 'utf8')).toBe('as it was');
  });

  it('says so when there is none, or none that may be written to', async () => {
    await expect(ownFolder(join(folder, 'missing'), { clock })).rejects.toMatchObject({ code: 'ENOENT' });
    writeFileSync(join(folder, 'file'), '');
    await expect(ownFolder(join(folder, 'file'), { clock })).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(ownFolder('/proc/self', { clock })).rejects.toMatchObject({ code: 'EACCES', syscall: 'listen' });
  });

  it.runIf(process.getuid?.() === 0)('is refused where its file system takes no sockets', async () => {
    await expect(ownFolder('/sys', { clock })).rejects.toThrow(/^its file system has no Unix sockets \(EPERM\)/);
  });
});
