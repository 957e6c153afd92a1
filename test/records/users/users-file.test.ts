import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileError } from '../../../src/foundation/yaml-text.ts';
import { hashKey } from '../../../src/records/users/secrets.ts';
import { FileUsers, parseUsers } from '../../../src/records/users/users-file.ts';
import { EditableUsersFile } from '../../../src/records/users/users-file-editor.ts';
import { FakeClock } from '../../fakes/clock.ts';

const SECRET = hashKey('key');
const user = (more = '') => `  - name: ann\n    role: admin\n    secret: ${SECRET}\n${more}`;

describe("a users file's text", () => {
  it('names people and keys', () => {
    const scrypt = `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'B'.repeat(43)}`;
    const text = `# team\nusers:\n${user()}  - { name: Bob, role: agent, agent: b.ob, secret: "${scrypt}" }\n`;
    expect(parseUsers(text, 'u.yaml')).toEqual([
      { name: 'ann', kind: 'key', role: 'admin', agent: null, secret: SECRET, createdMs: 0 },
      { name: 'bob', kind: 'person', role: 'agent', agent: 'b.ob', secret: scrypt, createdMs: 0 },
    ]);
    expect(parseUsers('{"users": []}', 'u.json')).toEqual([]);
  });

  it.each([
    ['nothing', '', 'u.yaml:1:1: the file: got nothing, expected lines such as "users: …"'],
    ['a list', '- a', 'u.yaml:1:1: the file: got a list, expected lines such as "users: …"'],
    ['a typo', `users:\n${user('    rol: x\n')}`, 'u.yaml:5:5: users.0.rol: is unknown, did you mean role?'],
    ['a role that there is not', `users:\n${user().replace('admin', 'root')}`, 'u.yaml:3:11: users.0.role:'],
    [
      'a plain password',
      `users:\n${user().replace(SECRET, 'hunter2hunter2')}`,
      'u.yaml:4:13: users.0.secret: expected',
    ],
    ['an agent of another role', `users:\n${user('    agent: x\n')}`, 'u.yaml:5:12: users.0.agent: only the role'],
    ['a name twice', `users:\n${user()}${user().replace('ann', 'ANN')}`, 'u.yaml:5:11: users.1.name: there is a user'],
    ['a field twice', `users:\n${user('    role: agent\n')}`, 'u.yaml:5:5: the same key stands above'],
    ['broken YAML', `users:\n  - name: [ann\n`, 'u.yaml:'],
    [
      'a cost that takes gigabytes',
      `users:\n${user().replace(SECRET, `$scrypt$ln=30,r=8,p=1$${'A'.repeat(22)}$${'B'.repeat(43)}`)}`,
      'users.0.secret',
    ],
    ['aliases', `users:\n  - &a {name: ann, role: admin, secret: ${SECRET}}\n  - *a\n`, 'aliases'],
  ])('is refused for %s, with its place and without its secrets', (_what, text, message) => {
    const parse = () => parseUsers(text, 'u.yaml');
    expect(parse).toThrow(FileError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/hunter2|\$scrypt\$ln/);
  });
});

describe('USERS_FILE', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    path = join(folder, 'users.yaml');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const open = async () => {
    const lines: string[] = [];
    const log = { info: () => lines.push('read again'), error: (line: string) => lines.push(line) };
    const users = await FileUsers.open({ path, clock: new FakeClock(), log: log as never });
    return { users, lines };
  };

  it('is read again when it changes, and stays as it was when it cannot be used, which is told once', async () => {
    writeFileSync(path, `users:\n${user()}`);
    const { users, lines } = await open();
    writeFileSync(path, `users:\n${user()}${user().replace('ann', 'bob')}`);
    await users.look();
    expect(users.list.all.map(({ name }) => name)).toEqual(['ann', 'bob']);
    writeFileSync(path, 'users:\n  - name: ann\n');
    await users.look();
    await users.look();
    rmSync(path);
    await users.look();
    expect(users.list.size).toBe(2);
    expect(lines).toEqual([
      'read again',
      expect.stringContaining('users.0.role'),
      expect.stringContaining('cannot be read (ENOENT)'),
    ]);
    users.close();
  });

  it('must be there at the start', async () => {
    await expect(open()).rejects.toThrow(`${path}: cannot be read (ENOENT)`);
  });

  it('is changed by no request', async () => {
    writeFileSync(path, 'users: []\n');
    const { users } = await open();
    await expect(users.remove()).rejects.toMatchObject({ code: 'users_in_file' });
    users.close();
  });

  it('is edited with its comments, closed to others when it is new', async () => {
    const ann = { name: 'ann', kind: 'key', role: 'admin', agent: null, secret: SECRET, createdMs: 0 } as const;
    const editor = await EditableUsersFile.open(path);
    await editor.add(ann);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, `# the team\n${readFileSync(path, 'utf8').replace('admin', 'admin # boss')}`);
    const again = await EditableUsersFile.open(path);
    await again.add({ ...ann, name: 'bob', role: 'agent', agent: 'b' });
    await again.change('bob', { role: 'supervisor', agent: null });
    await expect(again.add(ann)).rejects.toMatchObject({ code: 'user_exists' });
    expect(readFileSync(path, 'utf8')).toBe(
      `# the team\nusers:\n  - name: ann\n    role: admin # boss\n    secret: ${SECRET}\n` +
        `  - name: bob\n    role: supervisor\n    secret: ${SECRET}\n`,
    );
    await again.remove('ann');
    expect(parseUsers(readFileSync(path, 'utf8'), path).map(({ name }) => name)).toEqual(['bob']);
  });
});
