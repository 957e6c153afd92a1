import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { junitOf } from '../../../src/cli/flow/junit.ts';
import { runTests } from '../../../src/cli/flow/run-tests.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { captureTerminal } from '../../helpers/terminal.ts';

const FLOW = `version: 1
start: menu
steps:
  menu: { menu: { prompt: 'Press 1.', choices: { one: { key: '1', next: bye } } } }
  bye: { say: Goodbye. }
  never: { say: Never. }
`;
const TESTS = `version: 1
tests:
  - name: presses the key
    script: [{ press: 1 }, { expect: { said: goodbye } }]
    outcome: done
  - name: hears <another> word
    script: [{ press: 1 }, { expect: { said: hello, withinMs: 5000 } }]
`;

const settings = readSettings({ DATA_DIR: 'none' });
const options = { parallel: 4, text: true, json: false };

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flow-tests-'));
  await writeFile(join(folder, 'shop.yaml'), FLOW);
  await writeFile(join(folder, 'shop.test.yaml'), TESTS);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('trunkline flow test', () => {
  it('runs the tests of the examples, which come through every step', async () => {
    const { terminal, out } = captureTerminal();
    expect(await runTests([packagePath('dialplans', 'ivr')], options, settings, terminal)).toBe(0);
    expect(out.text).toMatch(/shop: (\d+) of \1 steps reached\n/);
    expect(out.text).toMatch(/(\d+) of \1 tests passed/);
  });

  it('says what failed, what the call was like and which steps no test came through', async () => {
    const { terminal, out } = captureTerminal();
    expect(await runTests([folder], options, settings, terminal)).toBe(1);
    expect(out.text).toMatch(/passed {2}shop: presses the key/);
    expect(out.text).toMatch(/FAILED {2}shop: hears <another> word/);
    expect(out.text).toContain('line 7, expect {"said":"hello","withinMs":5000}: expected to hear "hello"');
    expect(out.text).toContain('caller  presses 1');
    expect(out.text).toContain('shop: 2 of 3 steps reached; not reached: never');
    expect(out.text).toContain('1 of 2 tests passed');
  });

  it('waits for what becomes of keys before the caller says something', async () => {
    const { terminal, out } = captureTerminal();
    const ask = 'gather: { kind: number, min: 1, max: 30, into: points, prompt: How many points? }, next: sure';
    const sure = 'confirm: { prompt: Sure?, yes: bye, no: ask }';
    const steps = `  ask: { ${ask} }\n  sure: { ${sure} }\n  bye: { say: Goodbye. }\n`;
    await writeFile(join(folder, 'shop.yaml'), `version: 1\nstart: ask\nsteps:\n${steps}`);
    const script = '[{ press: 2 }, { say: yes }, { expect: { said: goodbye, variables: { points: 2 } } }]';
    await writeFile(join(folder, 'shop.test.yaml'), `version: 1\ntests:\n  - name: two\n    script: ${script}\n`);
    expect(await runTests([folder], options, settings, terminal), out.text).toBe(0);
  });

  it('prints JSON, and writes JUnit XML', async () => {
    const { terminal, out } = captureTerminal();
    const junit = join(folder, 'results.xml');
    expect(await runTests([join(folder, 'shop.yaml')], { ...options, json: true, junit }, settings, terminal)).toBe(1);
    const lines = out.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.slice(0, -1)).toContainEqual(expect.objectContaining({ test: 'presses the key', passed: true }));
    expect(lines.at(-1)).toMatchObject({ summary: { passed: 1, failed: 1 } });
    const xml = await readFile(junit, 'utf8');
    expect(xml).toContain('tests="2" failures="1"');
    expect(xml).toContain('name="hears &lt;another&gt; word"');
  });

  it('refuses a file of tests that is wrong, or that has no flow', async () => {
    const { terminal } = captureTerminal();
    await writeFile(join(folder, 'other.test.yaml'), TESTS);
    await expect(runTests([folder], options, settings, terminal)).rejects.toThrow(/no flow other beside it/);
    await writeFile(join(folder, 'other.test.yaml'), 'version: 1\ntests: []\n');
    await expect(runTests([folder], options, settings, terminal)).rejects.toThrow(/other\.test\.yaml:2:8: tests/);
    await expect(runTests([], options, settings, terminal)).rejects.toThrow(/FLOWS_DIR/);
    await writeFile(join(folder, 'other.test.yaml'), TESTS);
    await writeFile(join(folder, 'other.yaml'), `${FLOW}failed: nowhere\nkeys: { 1: nothing }\n`);
    await expect(runTests([folder], options, settings, terminal)).rejects.toThrow(
      /^[^\n]*other\.yaml:7:9: failed: .*\n[^\n]*other\.yaml:8:12: keys\.1: [^\n]*$/,
    );
  });
});

describe('JUnit XML', () => {
  it('has no characters that XML has not', () => {
    const result = { file: 'a', flow: 'f', name: 'a\u0000"b', failures: ['x & y'], dialogue: [], steps: [] };
    const xml = junitOf([{ ...result, durationMs: 1500, answersMs: [] }]);
    expect(xml).toContain('name="a\uFFFD&quot;b" time="1.500"');
    expect(xml).toContain('<failure message="x &amp; y">');
  });
});
