/** The commands for what flows say, against a server that speaks with a fake engine. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readWav, writeWav } from '../../../src/audio/wav.ts';
import { runCli } from '../../../src/cli/program.ts';
import { FlowFolder } from '../../../src/flows/file/flow-folder.ts';
import { FlowPrompts } from '../../../src/flows/prompts/flow-prompts.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { RecordingDecoder } from '../../../src/speech/recording-decoder.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { captureTerminal } from '../../helpers/terminal.ts';
import { listen, startServer, type TestServer } from '../../http/test-server.ts';

const SHOP = `
version: 1
start: hello
failedPrompt: =Sorry, "that" failed.
steps:
  hello: {say: {text: Welcome to the shop., recording: hello}, next: order}
  order: {say: "You are caller {call.from}."}
`;
const GERMAN = 'version: 1\nstart: a\nlanguage: de-DE\nsteps:\n  a: {say: Guten Tag.}\n';
const TONE = writeWav([Int16Array.from({ length: 16_000 }, (_, n) => 500 * Math.sin(0.17 * n))], 16_000);

let folder = '';
let prompts: FlowPrompts;
let server: TestServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-prompts-'));
  const flows = join(folder, 'flows');
  mkdirSync(join(flows, 'prompts'), { recursive: true });
  writeFileSync(join(flows, 'shop.yaml'), SHOP);
  writeFileSync(join(flows, 'laden.yaml'), GERMAN);
  const log = createLog('silent');
  const clock = new FakeClock();
  const decoder = new RecordingDecoder(systemClock);
  server = await startServer({}, undefined, undefined, null, null, async ({ ahead }) => {
    prompts = await FlowPrompts.open({ folder: flows, ahead, decoder, clock, log, usualLanguage: 'en-US' });
    return prompts;
  });
  const read = await FlowFolder.open(flows, { clock, log, prepare: (set) => prompts.prepare(set) });
  read.close();
  vi.stubEnv('TRUNKLINE_URL', await listen(server.app));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.app.close();
  prompts.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...args: string[]) {
  const { terminal, out, err } = captureTerminal();
  const code = await runCli(['prompts', ...args], terminal);
  return { code, out: out.text, err: err.text };
}

/** A folder with files, to be imported. */
function filesIn(files: Readonly<Record<string, Uint8Array | string>>): string {
  const path = join(folder, 'recorded');
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), bytes);
  }
  return path;
}

describe('trunkline prompts list', () => {
  it('prints what flows say, and only what is asked for', async () => {
    const { code, out, err } = await run('list');
    expect([code, err]).toEqual([0, '']);
    expect(out.trimEnd().split('\n').toSorted()).toEqual([
      'laden a prompt  de-DE  made ahead  Guten Tag.',
      'shop (failed) failedPrompt  en-US  made ahead  =Sorry, "that" failed.',
      'shop hello prompt  en-US  made ahead  Welcome to the shop.',
      'shop order prompt  en-US  with values  You are caller {call.from}.',
    ]);
    for (const language of ['DE-de', 'de'])
      expect((await run('list', '--language', language)).out).toBe('laden a prompt  de-DE  made ahead  Guten Tag.\n');
    const listed = JSON.parse((await run('list', '--flow', 'laden', '--json')).out);
    expect(listed).toMatchObject({ prompts: [{ flow: 'laden', step: 'a', source: 'made' }], recordings: [] });
  });

  it('says where nothing is said', async () => {
    expect(await run('list', '--flow', 'ship')).toEqual({
      code: 0,
      out: '',
      err: 'No flow says anything there.\n',
    });
  });
});

describe('trunkline prompts render', () => {
  it('waits until all is made, and says how much that was', async () => {
    // A sentence with a value is made in the call.
    const { code, out } = await run('render');
    expect([code, out]).toEqual([0, expect.stringMatching(/^2 flows, 3 sentences: \d made in \d\.\d s/)]);
    const again = JSON.parse((await run('render', '--json')).out);
    expect(again).toMatchObject({ flows: 2, sentences: 3, made: 0, failed: 0 });
  });
});

describe('trunkline prompts play', () => {
  it('writes a prompt to a file', async () => {
    const file = join(folder, 'hello.wav');
    expect(await run('play', 'shop', 'hello', '--out', file)).toEqual({ code: 0, out: '', err: '' });
    expect(readWav(readFileSync(file)).rateHz).toBe(8000);
  });

  it('gives it to a program that plays, and says where there is none', async () => {
    const path = join(folder, 'bin');
    mkdirSync(path);
    vi.stubEnv('PATH', path);
    const { code, err } = await run('play', 'shop', 'hello');
    expect([code, err]).toEqual([1, expect.stringContaining('no program to play sound was found (aplay,')]);
    const played = join(folder, 'played.wav');
    writeFileSync(join(path, 'paplay'), `#!/bin/sh\n/bin/cat > '${played}'\n`);
    chmodSync(join(path, 'paplay'), 0o755);
    expect((await run('play', 'shop', 'hello')).code).toBe(0);
    expect(readWav(readFileSync(played)).rateHz).toBe(8000);
  });

  it('names what is not there', async () => {
    const { code, err } = await run('play', 'shop', 'hello', 'noMatch 1');
    expect([code, err]).toEqual([1, expect.stringContaining('no prompt is there: flow shop, step hello, noMatch 1;')]);
  });
});

describe('trunkline prompts export', () => {
  it('writes a WAV file of each prompt, and what a voice actor reads', async () => {
    const path = join(folder, 'out');
    const { code, out } = await run('export', path, '--flow', 'shop');
    expect([code, out]).toEqual([0, `3 prompts are in ${path}; script.csv says what each of them is.\n`]);
    expect(readdirSync(join(path, 'en-US')).toSorted()).toEqual([
      'hello.wav',
      'shop-failed-failedPrompt.wav',
      'shop-order.wav',
    ]);
    expect(readWav(readFileSync(join(path, 'en-US', 'hello.wav'))).rateHz).toBe(8000);
    const rows = readFileSync(join(path, 'script.csv'), 'utf8').replace('\ufeff', '').trimEnd().split('\r\n');
    expect(rows[0]).toBe('file,language,recording,flow,step,part,voice,source,text');
    expect(rows).toContain('en-US/hello.wav,en-US,hello,shop,hello,prompt,,made,Welcome to the shop.');
    // No spreadsheet takes it for a formula.
    expect(rows.find((row) => row.includes('failedPrompt'))).toMatch(/,"'=Sorry, ""that"" failed\."$/);
  });
});

describe('trunkline prompts export from a server that lies', () => {
  it('writes nothing outside of its folder', async () => {
    const prompt = { id: 'a', flow: 'f', step: 's', part: 'prompt', voice: null, text: 'A', source: 'made' };
    const data = [
      { ...prompt, language: '../../de', recording: 'a' },
      { ...prompt, language: '..', recording: '../../b' },
      { ...prompt, language: '/tmp', recording: '/etc/c' },
    ];
    const liar = createServer((request, response) => {
      if (request.url?.endsWith('/sound') === true) response.end(TONE);
      else response.end(JSON.stringify({ data, next: null }));
    });
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    vi.stubEnv('TRUNKLINE_URL', `http://127.0.0.1:${(liar.address() as AddressInfo).port}`);
    const path = join(folder, 'in', 'out');
    expect((await run('export', path)).code).toBe(0);
    liar.close();
    expect(readdirSync(join(folder, 'in'))).toEqual(['out']);
    const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name).toSorted()).toEqual(['-b.wav', '-etc-c.wav', 'a.wav', 'script.csv']);
  });
});

describe('trunkline prompts import', () => {
  it('puts recordings into FLOWS_DIR, where flows play them', async () => {
    const path = filesIn({ 'en/hello.wav': TONE, 'en/other.wav': TONE, 'en/notes.txt': 'no sound' });
    expect(await run('import', path)).toEqual({
      code: 0,
      out: '2 of 2 recordings were taken over.\n',
      err: `${join(path, 'en', 'other.wav')}: no flow plays it yet: {recording: other}\n`,
    });
    expect(readdirSync(join(folder, 'flows', 'prompts', 'en')).toSorted()).toEqual(['hello.wav', 'other.wav']);
    expect((await run('list', '--flow', 'shop')).out).toContain('shop hello prompt  en-US  recorded  Welcome');
  });

  it('takes the files of one folder in the language that is named, and exits with 1 where one is no sound', async () => {
    const path = filesIn({ 'hello.wav': TONE, 'bye.wav': 'This is no sound at all, but words.' });
    const { code, out, err } = await run('import', path, '--language', 'en', '--json');
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([code, err]).toEqual([1, '']);
    expect(lines).toEqual([
      expect.objectContaining({
        name: 'bye',
        error: expect.stringContaining('it is text, expected WAV'),
        isUsed: false,
      }),
      { file: join(path, 'hello.wav'), language: 'en', name: 'hello', error: null, isUsed: true },
    ]);
  });
});
