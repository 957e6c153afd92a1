import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlows } from '../../../src/cli/flow/check-flows.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { captureTerminal } from '../../helpers/terminal.ts';

const GOOD = 'version: 1\nstart: a\nsteps:\n  a: { say: Hello. }\n';

describe('trunkline flow check', () => {
  let folder: string;
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-check-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function check(paths: readonly string[], options: { json?: boolean; folder?: string } = {}) {
    const { terminal, out } = captureTerminal();
    const code = await checkFlows(paths, { json: false, folder: '', ...options }, terminal);
    return { code, lines: out.text.trim().split('\n') };
  }

  it('finds nothing wrong with the flows that come with the program', async () => {
    expect(await check([packagePath('dialplans', 'ivr')])).toEqual({
      code: 0,
      lines: ['Flows: 4, errors: 0, warnings: 0'],
    });
  });

  it('tells errors and warnings of flows, tests and numbers with their places', async () => {
    write('good.yaml', GOOD);
    const shop = write('shop.yaml', `${GOOD}  b: { say: Bye. }\nkeys: { 1: c }\n`);
    const warned = write('warned.yaml', `${GOOD}  b: { say: Bye. }\n`);
    const tests = write('shop.test.yaml', 'version: 1\n');
    const numbers = write('numbers.yaml', 'numbers: [{ number: "1", flow: ship }]\n');
    const other = write('other.yml', '');
    const { code, lines } = await check([folder]);
    expect(code).toBe(1);
    expect(lines).toEqual([
      `${shop}:6:12: keys.1: there is no step c, expected the name of a step or end, back, repeat`,
      `${warned}:5:3: warning: steps.b: is never reached: no step leads here`,
      expect.stringContaining(`${tests}:1:1: tests: is missing`),
      `${numbers}:1:32: numbers.0.flow: there is no flow ship, did you mean shop?`,
      `${other}: warning: is not read, expected a name that ends with .yaml`,
      'Flows: 3, errors: 3, warnings: 2',
    ]);
  });

  it('tells of a file what is wrong with it alone, and looks for what it calls beside it', async () => {
    write('wrong.yaml', 'version: 2\n');
    write('good.yaml', GOOD);
    const caller = write('caller.yaml', 'version: 1\nstart: a\nsteps:\n  a: { flow: { name: good } }\n');
    expect(await check([caller])).toEqual({ code: 0, lines: ['Flows: 1, errors: 0, warnings: 0'] });
  });

  it('prints JSON, a line for each finding and a summary', async () => {
    const file = write('shop.yaml', `${GOOD}version: 1\n`);
    const { code, lines } = await check([], { json: true, folder });
    expect(code).toBe(1);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { severity: 'error', file, line: 5, column: 1, message: expect.stringContaining('the same key stands above') },
      { summary: { flows: 1, errors: 1, warnings: 0 } },
    ]);
  });

  it('warns of tests that name steps of no flow, and refuses those without a flow', async () => {
    write('good.yaml', GOOD);
    const script = 'tests: [{ name: a, script: [hangup], notSteps: b }]';
    const tests = write('good.test.yaml', `version: 1\n${script}\n`);
    const warning = `${tests}:2:48: warning: tests.0.notSteps.0: the flow has no step b`;
    expect((await check([folder])).lines).toEqual([warning, 'Flows: 1, errors: 0, warnings: 1']);
    expect((await check([tests])).lines).toContain(warning);
    const other = write('other.test.yaml', `version: 1\n${script}\n`);
    expect((await check([folder])).lines).toContain(`${other}: there is no flow other beside it`);
  });

  it('says of a folder without flows where some are', async () => {
    mkdirSync(join(folder, 'shop'));
    write('shop/shop.yaml', GOOD);
    const { code, lines } = await check([folder]);
    expect(code).toBe(1);
    expect(lines[0]).toBe(
      `${folder}: has no flow, which is a file that ends with .yaml; folders inside of it are not looked at, so name ` +
        `them: ${join(folder, 'shop')}`,
    );
  });

  it('says what it expects where nothing is named, or what is not there', async () => {
    await expect(check([])).rejects.toThrow('expected a folder or a file of flows, or FLOWS_DIR');
    await expect(check([join(folder, 'none')])).rejects.toThrow('none: there is no such file or folder');
    await expect(check([write('a.txt', '')])).rejects.toThrow(
      'a.txt: is no flow, expected a file that ends with .yaml',
    );
  });
});
