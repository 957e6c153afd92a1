import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FlowSet } from '../../../src/flows/file/flow.ts';
import { FlowFolder } from '../../../src/flows/file/flow-folder.ts';
import { ConfigError } from '../../../src/foundation/settings/config.ts';
import { FakeClock } from '../../fakes/clock.ts';

const flow = (steps: string): string => `version: 1\nstart: main\nsteps:\n${steps}`;
const SAYS = (text: string): string => flow(`  main: { say: "${text}" }\n`);
const CALLS = (name: string): string => flow(`  main: { flow: { name: ${name} } }\n`);

describe('FLOWS_DIR', () => {
  let folder: string;
  let lines: string[];
  let open: FlowFolder | null = null;
  const clock = new FakeClock();
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    lines = [];
  });
  afterEach(() => {
    open?.close();
    open = null;
    expect(clock.pending).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  });

  async function opened(
    prepare: (set: FlowSet) => Promise<void> = async () => undefined,
    onGone: (name: string) => void = () => undefined,
  ): Promise<FlowFolder> {
    const note = (...line: unknown[]): void => void lines.push(line.map((part) => JSON.stringify(part)).join(' '));
    const log = { info: note, error: note, warn: note } as never;
    open = await FlowFolder.open(folder, { clock, log, prepare, onGone });
    return open;
  }

  it('has the flows of its files with what they call, and none of tests, hidden files and numbers', async () => {
    write('shop.yaml', CALLS('hours'));
    write('hours.yaml', SAYS('Open.'));
    write('shop.test.yaml', 'anything');
    write('.hidden.yaml', 'anything');
    const flows = await opened();
    expect(flows.list().map(({ name }) => name)).toEqual(['hours', 'shop']);
    const set = flows.get('shop');
    expect([...(set?.flows.keys() ?? [])]).toEqual(['shop', 'hours']);
    expect(set?.version).toMatch(/^[\da-f]{8}$/);
    expect(flows.get('none')).toBeNull();
  });

  it('stops the start with all that is wrong in all files', async () => {
    write('one.yaml', flow('  main: { say: 5 }\n'));
    write('two.yaml', CALLS('none'));
    const error = await opened().catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).problems).toEqual([
      expect.stringContaining(`FLOWS_DIR: ${folder}/one.yaml:4:16: steps.main.say: `),
      `FLOWS_DIR: ${folder}/two.yaml:4:25: steps.main.flow.name: there is no flow none`,
    ]);
  });

  it('stops the start where it is missing, or a file', async () => {
    rmSync(folder, { recursive: true });
    await expect(opened()).rejects.toThrow(`FLOWS_DIR: ${folder}: cannot be read (ENOENT)`);
    writeFileSync(folder, '');
    await expect(opened()).rejects.toThrow(`FLOWS_DIR: ${folder}: got a file, expected a folder`);
  });

  it('gives new calls a changed flow when it is prepared, and leaves the others theirs', async () => {
    write('shop.yaml', CALLS('hours'));
    write('hours.yaml', SAYS('Open.'));
    const prepared: string[] = [];
    const flows: FlowFolder = await opened(async ({ name, version }) => {
      const inUse = open?.get(name)?.version ?? 'none';
      prepared.push(inUse === version ? `${name} is in use` : `${name} ${inUse}`);
    });
    const before = flows.get('shop');
    const versions = flows.list().map(({ name, set }) => `${name} ${set?.version}`);
    expect(prepared.splice(0)).toEqual(['hours none', 'shop none']);
    write('hours.yaml', SAYS('Closed all day.'));
    await flows.look();
    const after = flows.get('shop');
    expect(after?.version).not.toBe(before?.version);
    expect(after?.flows.get('hours')?.steps.get('main')?.fields).toEqual({ text: 'Closed all day.' });
    expect(before?.flows.get('hours')?.steps.get('main')?.fields).toEqual({ text: 'Open.' });
    expect(prepared).toEqual(versions);
  });

  it('refuses a wrong change, says so once, and takes the next one', async () => {
    write('shop.yaml', SAYS('Old.'));
    const flows = await opened();
    const before = flows.get('shop');
    write('shop.yaml', 'version: 1\nstart: main\nsteps: [\n');
    await flows.look();
    await flows.look();
    expect(flows.get('shop')).toBe(before);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`version ${before?.version} stays: ${folder}/shop.yaml:4:1: `);
    expect(flows.list()[0]).toMatchObject({ errors: [{ line: 4 }], refusedSinceMs: clock.wall().getTime() });
    write('shop.yaml', SAYS('New and longer.'));
    await flows.look();
    expect(flows.list()[0]).toMatchObject({ errors: [], refusedSinceMs: null });
    expect(flows.get('shop')?.version).not.toBe(before?.version);
  });

  it('keeps a flow whose sub-flow became wrong, and lets the others change', async () => {
    write('main.yaml', CALLS('sub'));
    write('sub.yaml', SAYS('Sub.'));
    const flows = await opened();
    const before = flows.get('main');
    write('sub.yaml', CALLS('main'));
    await flows.look();
    expect(flows.get('main')).toBe(before);
    expect(flows.get('sub')?.main.steps.get('main')?.verb).toBe('say');
    expect(lines.join('\n')).toContain('flows call each other in a circle: main → sub → main');
  });

  it('takes a flow off when its file is missing twice: editors replace files', async () => {
    write('shop.yaml', SAYS('Old.'));
    const gone: string[] = [];
    const flows = await opened(undefined, (name) => gone.push(name));
    rmSync(join(folder, 'shop.yaml'));
    await flows.look();
    expect([flows.get('shop')?.name, gone]).toEqual(['shop', []]);
    await flows.look();
    expect([flows.get('shop'), gone]).toEqual([null, ['shop']]);
  });

  it('knows the flows of numbers and of users of SIP addresses', async () => {
    write('shop.yaml', SAYS('Shop.'));
    write('other.yaml', SAYS('Other.'));
    const entries = ['{number: "+4930*", flow: shop}', '{number: "support", flow: other}'];
    write('numbers.yaml', `numbers:\n  - ${entries.join('\n  - ')}\n`);
    const flows = await opened();
    expect(flows.calledAt('+49 30 1234')?.name).toBe('shop');
    expect(flows.calledAt('sip:Support@example.com')?.name).toBe('other');
    expect(flows.calledAt('+33')).toBeNull();
    expect(flows.calledAt(null)).toBeNull();
    write('numbers.yaml', 'numbers: [{number: "+33*", flow: shoe}]');
    await flows.look();
    await flows.look();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`${folder}/numbers.yaml:1:34: numbers.0.flow: there is no flow shoe`);
    expect(flows.calledAt('+49 30 1234')?.name).toBe('shop');
    write('numbers.yaml', 'numbers: [{number: "+33*", flow: other}]');
    await flows.look();
    expect(flows.calledAt('+33 1')?.name).toBe('other');
  });

  it('looks every two seconds until it is closed', async () => {
    write('shop.yaml', SAYS('Old.'));
    const flows = await opened();
    expect(clock.pending).toBe(1);
    flows.close();
    expect(clock.pending).toBe(0);
  });
});
