import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkFiles } from '../../src/cli/check-files.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const folder = mkdtempSync(join(tmpdir(), 'trunkline-check-'));
afterAll(() => rmSync(folder, { recursive: true }));

const NONE = { FLOWS_DIR: '', HINTS_FILE: '', NUMBERS_FILE: '', USERS_FILE: '', REDACT_PATTERNS_FILE: '' };

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function flowsWithManyErrors(): string {
  const flows = join(folder, 'very-wrong-flows');
  mkdirSync(flows);
  for (const name of ['a', 'b', 'c', 'd', 'e']) writeFileSync(join(flows, `${name}.yaml`), '');
  return flows;
}

function flowsWithErrors(): string {
  const flows = join(folder, 'wrong-flows');
  mkdirSync(flows);
  writeFileSync(join(flows, 'one.yaml'), 'version: 1\nsteps: { a: { say: A } }\n');
  writeFileSync(join(flows, 'two.yaml'), 'version: 3\nstart: a\nsteps: { a: { say: A } }\n');
  return flows;
}

describe('the check of files', () => {
  it('says nothing of files that are not set', async () => {
    expect(await checkFiles(NONE)).toEqual([]);
  });

  it('counts what is in each', async () => {
    const settings = {
      FLOWS_DIR: packagePath('dialplans', 'ivr'),
      HINTS_FILE: file(
        'hints.yaml',
        'cards:\n  - {words: [refund], title: Refunds, text: Ask for the order number.}\n',
      ),
      NUMBERS_FILE: file('numbers.yaml', 'numbers:\n  - {number: "+4930*", language: de}\n'),
      USERS_FILE: file('users.yaml', 'users: []\n'),
      REDACT_PATTERNS_FILE: file('patterns.txt', 'policy number: \\bPOL-?\\d{6}\\b\norder: \\bO\\d{4}\\b\n'),
    };
    const details = (await checkFiles(settings)).map(({ status, detail }) => `${status} ${detail.split(' in ')[0]}`);
    expect(details).toEqual([
      'ok FLOWS_DIR: 4 flows',
      'ok HINTS_FILE: 1 card',
      'ok NUMBERS_FILE: 1 number',
      'ok USERS_FILE: 0 users',
      'ok REDACT_PATTERNS_FILE: 2 patterns',
    ]);
  });

  it.each([
    [{ FLOWS_DIR: join(folder, 'flows') }, /^FLOWS_DIR: .*flows: cannot be read \(ENOENT\)/],
    [{ FLOWS_DIR: flowsWithErrors() }, /^FLOWS_DIR: .*one\.yaml:1:1: .*; .*two\.yaml:1:10: version/],
    [{ FLOWS_DIR: flowsWithManyErrors() }, /c\.yaml:1:1: [^;]*; and 2 more, which `trunkline flow check \S+` tells$/],
    [{ HINTS_FILE: join(folder, 'none.yaml') }, /^HINTS_FILE: .*none\.yaml/],
    [{ HINTS_FILE: file('bad.yaml', 'cards: 5\n') }, /^HINTS_FILE: .*bad\.yaml:1/],
    [
      { NUMBERS_FILE: file('numbers-bad.yaml', 'numbers:\n  - number: 030123\n') },
      /^NUMBERS_FILE: .*yaml:2:13: .*quotes/,
    ],
    [{ USERS_FILE: file('secret.yaml', 'users: [{name: ann, role: admin, secret: hush}]\n') }, /^USERS_FILE: /],
    [{ REDACT_PATTERNS_FILE: file('bad.txt', 'order: (\n') }, /^REDACT_PATTERNS_FILE: /],
    [{ REDACT_PATTERNS_FILE: join(folder, 'none.txt') }, /^REDACT_PATTERNS_FILE: .*ENOENT/],
  ])('fails for %j', async (changes, detail) => {
    const [finding, ...others] = await checkFiles({ ...NONE, ...changes });
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ name: 'file', status: 'fail', detail: expect.stringMatching(detail) });
    expect(finding?.detail).not.toContain('hush');
  });
});
