/** `trunkline user`, as an operator runs it: on a folder that no server has, through a running server, on a file. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBuiltCli } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';

const PASSWORD = 'correct horse battery';
const PRETEND = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', ENGINE_WORKERS: '1' };

let folder: string;
const gateways: GatewayProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-users-'));
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function start(environment: Record<string, string>): Promise<GatewayProcess> {
  const gateway = await startGateway({ ...PRETEND, ...environment });
  gateways.push(gateway);
  return gateway;
}

/** The port of a server that is not there. */
const NO_SERVER = { PORT: '1' };
const user = (words: string, environment: Record<string, string>, input = '') =>
  runBuiltCli(['user', ...words.split(' ')], { ...NO_SERVER, ...environment }, input);

async function signIn(url: string, name: string, password: string): Promise<{ status: number; cookie: string }> {
  const answer = await fetch(`${url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, password }),
  });
  return { status: answer.status, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

const statusOf = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status;

describe('trunkline user, without a server', () => {
  it('adds, lists, changes and removes the users of a folder, who sign in at the next start', async () => {
    const DATA_DIR = folder;
    expect((await user('list', { DATA_DIR })).err).toContain('There are no users');
    const early = await user('add bob --role agent', { DATA_DIR }, PASSWORD);
    expect([early.code, early.err]).toEqual([1, expect.stringContaining('must be an admin')]);
    const short = await user('add ann --role admin', { DATA_DIR }, 'short\n');
    expect([short.code, short.err]).toEqual([1, expect.stringContaining('password:')]);
    expect(short.err).not.toContain('short\n');

    const added = await user('add ann --role admin', { DATA_DIR }, `${PASSWORD}\n`);
    expect([added.code, added.out]).toEqual([0, '']);
    expect(added.err).toContain('everybody must sign in');
    const bob = await user('add bob --role agent --agent robert --json', { DATA_DIR }, PASSWORD);
    expect(JSON.parse(bob.out)).toEqual({ name: 'bob', kind: 'person', role: 'agent', agent: 'robert' });
    const key = (await user('add crm --role app --generate-key', { DATA_DIR })).out.trim();
    expect(key).toMatch(/^tl_[\w-]{43}$/);
    expect((await user('list', { DATA_DIR })).out.split('\n').filter(Boolean)).toEqual([
      'ann: admin, a password',
      'bob: agent of the calls with agent=robert, a password',
      'crm: app, a key',
    ]);

    const again = await user('add BOB --role agent', { DATA_DIR }, PASSWORD);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('trunkline user: ')]);
    expect((await user('password bob', { DATA_DIR }, 'another good password')).code).toBe(0);
    expect((await user('role bob supervisor', { DATA_DIR })).code).toBe(0);
    expect((await user('remove crm', { DATA_DIR })).code).toBe(0);
    expect((await user('remove ann', { DATA_DIR })).err).toContain('add another admin first');
    expect((await user('password crm', { DATA_DIR }, PASSWORD)).code).toBe(1);

    const { url } = await start({ DATA_DIR });
    expect(await statusOf(`${url}/v1/calls`)).toBe(401);
    expect(await statusOf(`${url}/v1/calls`, { authorization: `Bearer ${key}` })).toBe(401);
    expect((await signIn(url, 'bob', PASSWORD)).status).toBe(401);
    const { status, cookie } = await signIn(url, 'bob', 'another good password');
    expect(status).toBe(204);
    const me = await (await fetch(`${url}/v1/session`, { headers: { cookie } })).json();
    expect(me).toMatchObject({ name: 'bob', role: 'supervisor', agent: null });
  });

  it('says what is wrong with a name, a role and a place, and shows no password', async () => {
    expect((await user('list', {})).err).toContain('there is no place for users');
    expect((await user('add ann --role king', { DATA_DIR: folder })).err).toContain('--role');
    const name = await user('add a/b --role admin', { DATA_DIR: folder }, PASSWORD);
    expect([name.code, name.err]).toEqual([1, expect.stringContaining('name:')]);
    expect((await user('add ann --role admin', { DATA_DIR: folder })).err).toContain('password');
    expect((await user('remove nobody', { DATA_DIR: folder })).code).toBe(1);
  });

  it('edits USERS_FILE, which stays private and which a running server reads again', async () => {
    const USERS_FILE = join(folder, 'users.yaml');
    expect((await user('add ann --role admin', { USERS_FILE }, PASSWORD)).code).toBe(0);
    expect(statSync(USERS_FILE).mode & 0o077).toBe(0);
    expect(readFileSync(USERS_FILE, 'utf8')).not.toContain(PASSWORD);
    const { url } = await start({ USERS_FILE });
    expect((await signIn(url, 'ann', PASSWORD)).status).toBe(204);
    expect((await user('add bob --role supervisor', { USERS_FILE }, PASSWORD)).code).toBe(0);
    await eventually(async () => expect((await signIn(url, 'bob', PASSWORD)).status).toBe(204));
  });
});

describe('trunkline user, through the server that runs', () => {
  it('changes what the server knows at once, and signs out who is changed', async () => {
    const DATA_DIR = folder;
    const { url } = await start({ DATA_DIR });
    const PORT = new URL(url).port;
    expect(await statusOf(`${url}/v1/calls`)).toBe(200);
    const first = await user('add ann --role admin', { DATA_DIR, PORT }, PASSWORD);
    expect(first.err).toContain(`in the server at ${url}`);
    expect(await statusOf(`${url}/v1/calls`)).toBe(401);

    const locked = await user('list', { DATA_DIR, PORT });
    expect([locked.code, locked.err]).toEqual([1, expect.stringContaining('key')]);
    const { cookie } = await signIn(url, 'ann', PASSWORD);
    const answer = await fetch(`${url}/v1/admin/users`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'ops', role: 'admin', key: true }),
    });
    const { key: TRUNKLINE_KEY = '' } = (await answer.json()) as { key?: string };
    const through = { DATA_DIR, PORT, TRUNKLINE_KEY };
    expect((await user('add bob --role agent', through, PASSWORD)).code).toBe(0);
    const bob = await signIn(url, 'bob', PASSWORD);
    expect(await statusOf(`${url}/v1/calls`, { cookie: bob.cookie })).toBe(200);
    expect((await user('role bob supervisor', through)).code).toBe(0);
    expect(await statusOf(`${url}/v1/calls`, { cookie: bob.cookie })).toBe(401);
    const supervisor = await signIn(url, 'bob', PASSWORD);
    expect((await user('password bob', through, 'another good password')).code).toBe(0);
    expect(await statusOf(`${url}/v1/calls`, { cookie: supervisor.cookie })).toBe(401);
    expect((await user('remove ann', through)).code).toBe(0);
    expect(await statusOf(`${url}/v1/calls`, { cookie })).toBe(401);
    expect(JSON.parse((await user('list --json', { ...through, PORT: '1', TRUNKLINE_URL: url })).out)).toMatchObject([
      { name: 'bob', role: 'supervisor' },
      { name: 'ops', kind: 'key' },
    ]);
    expect((await user('remove ops', through)).err).toContain('add another admin first');
  });

  it('keeps everybody out where the folder with the users cannot be opened', async () => {
    const XDG_STATE_HOME = folder;
    const own = { XDG_STATE_HOME, DATA_DIR: '' };
    expect((await user('add ann --role admin', own, PASSWORD)).code).toBe(0);
    const first = await start(own);
    const second = await start(own);
    expect(await statusOf(`${first.url}/v1/calls`)).toBe(401);
    expect(await statusOf(`${second.url}/v1/calls`)).toBe(503);
    expect((await signIn(second.url, 'ann', PASSWORD)).status).toBe(503);
  });
});
