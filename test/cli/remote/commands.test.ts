/** The commands against a whole gateway of this process, with a record and with callers on real sockets. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { Output } from '../../../src/cli/terminal.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { type Gateway, runGateway } from '../../../src/gateway/main.ts';
import { TwilioCaller } from '../../../src/simulator/twilio-caller.ts';
import { eventually } from '../../helpers/eventually.ts';
import { freePort } from '../../helpers/ports.ts';
import { LINE_RATE_HZ, tones } from '../../helpers/signals.ts';
import { captureTerminal, TextStream } from '../../helpers/terminal.ts';

const KEY = 'a key of sixteen letters';
/** The pretend recogniser hears 600 Hz as "bravo". */
const BRAVO_HZ = 600;

const folder = mkdtempSync(join(tmpdir(), 'trunkline-'));
let gateway: Gateway;
beforeAll(async () => {
  const engines = { ENGINE_WORKERS: '1', ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', MODELS_DIR: 'none' };
  const place = { DATA_DIR: join(folder, 'data'), PORT: '0', API_KEYS: KEY, LOG_LEVEL: 'silent' };
  gateway = await runGateway(readSettings({ ...engines, ...place }));
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

const callers: TwilioCaller[] = [];
beforeEach(() => {
  vi.stubEnv('TRUNKLINE_URL', gateway.url);
  vi.stubEnv('TRUNKLINE_KEY', KEY);
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const caller of callers.splice(0)) caller.drop();
});

async function run(...args: string[]) {
  const { terminal, out, err } = captureTerminal();
  const code = await runCli(args, terminal);
  return { code, out: out.text, err: err.text };
}

/** A call in which a second of a tone is said between silences; it goes on for a minute unless it is `fast`. */
function place(pace: 'fast' | 'realtime'): { caller: TwilioCaller; ended: Promise<unknown> } {
  const inbound = new Int16Array((pace === 'fast' ? 3 : 60) * LINE_RATE_HZ);
  inbound.set(tones(1, [BRAVO_HZ], 0.25), LINE_RATE_HZ / 2);
  const parameters = { callerName: 'Maria K.', agent: 'tom' };
  const url = `${gateway.url.replace(/^http/, 'ws')}/twilio/media`;
  const from = { from: '+15550100', to: '+15550199' };
  const caller = new TwilioCaller({ url, tracks: { inbound }, pace, clock: systemClock, parameters, ...from });
  callers.push(caller);
  return { caller, ended: caller.run() };
}

async function placeEnded(): Promise<string> {
  const { caller, ended } = place('fast');
  await ended;
  await eventually(async () => expect((await run('calls', '--end-reason', 'hangup')).out).toContain(caller.callSid));
  return caller.callSid;
}

async function placeLive(): Promise<string> {
  const { caller, ended } = place('realtime');
  ended.catch(() => undefined);
  await eventually(async () => expect((await run('calls')).out).toContain(caller.callSid));
  return caller.callSid;
}

describe('trunkline calls', () => {
  it('lists the calls that go on, with words those in which they were said, and as JSON what the API says', async () => {
    const ended = await placeEnded();
    expect(await run('calls')).toEqual({ code: 0, out: '', err: 'No call is live.\n' });
    const live = await placeLive();
    const listed = await run('calls');
    expect(listed.out).toContain(`${live}  live`);
    expect(listed.out).toContain('Maria K. (+15550100) → +15550199  agent tom\n');
    expect(listed.out).not.toContain(ended);

    const found = await run('calls', 'bravo', '--since', '1h', '--agent', 'tom', '--end-reason', 'hangup');
    expect(found.out).toMatch(new RegExp(`${ended}  hangup 0:03 .*\n {6}0:0\\d  Maria K\\.: .*bravo`));
    expect((await run('calls', 'zulu')).err).toBe('No call matches.\n');
    const json = JSON.parse((await run('calls', 'bravo', '--json', '--until', '1h')).out);
    expect(json).toEqual([]);
    const [first] = JSON.parse((await run('calls', '--live', '--json')).out);
    expect(first).toMatchObject({ id: live, state: 'live', names: { inbound: 'Maria K.' } });
  });

  it('says that there are more than were asked for', async () => {
    await placeEnded();
    await placeEnded();
    const { out, err } = await run('calls', '--agent', 'tom', '--limit', '1');
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(err).toBe('There are more: --limit, now 1, shows them.\n');
  });

  it('writes a call on two lines where one is wider than the terminal', async () => {
    const id = await placeEnded();
    const [out, err] = [new TextStream({ isTTY: true, columns: 80 }), new TextStream()];
    await runCli(['calls', '--agent', 'tom'], { out: new Output(out), err: new Output(err) });
    expect(out.text).toMatch(new RegExp(`${id}  hangup 0:03\n    Maria K\\. .*agent tom\n`));
  });

  it('ends with 1 and the words of the server, and with 2 for a time that is none', async () => {
    const refused = await run('calls', '--key', 'another key of letters');
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^trunkline: .*\(\w+\)\n$/) });
    expect(await run('calls', '--since', 'lately')).toMatchObject({
      code: 2,
      err: expect.stringContaining('30m, 24h'),
    });
  });
});

describe('trunkline say and hangup', () => {
  it('speak to a live call and end it', async () => {
    const id = await placeLive();
    const said = await run('say', id, 'one', 'moment', '--json');
    expect(said.code).toBe(0);
    expect(JSON.parse(said.out)).toEqual({ utterance: expect.any(String) });
    expect((await run('hangup', id)).code).toBe(0);
    expect((await run('hangup', id, '--json')).code).toBe(0);
    await eventually(async () => expect((await run('calls')).out).not.toContain(id));
    const { code, err } = await run('say', id, 'too late');
    expect(code).toBe(1);
    expect(err).toMatch(/^trunkline: there is no live call with that id.*\(call_not_found\)\n$/);
  });
});

describe('trunkline tail', () => {
  it('follows a call from its beginning to its end', async () => {
    const id = await placeLive();
    const following = run('tail', id);
    await eventually(async () => {
      const [view] = JSON.parse((await run('calls', '--live', '--json')).out);
      expect(view.counts.finals).toBe(1);
    });
    await run('hangup', id);
    const { code, out } = await following;
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      `Maria K. (+15550100) → +15550199, ${id} (twilio)`,
      expect.stringMatching(/^ {2}0:0\d {2}Maria K\. {6}.*bravo/),
      expect.stringMatching(/\[ended: api, 0:\d\d\]$/),
      '',
    ]);
  });

  it('shows a call that has ended, also as JSON, and refuses one that nobody knows', async () => {
    const id = await placeEnded();
    expect((await run('tail', id)).out).toContain('[ended: hangup, 0:03]');
    const events = (await run('tail', id, '--json')).out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ id: expect.any(String), type: 'call.started', callId: id });
    expect(events.at(-1)).toMatchObject({ type: 'call.ended' });
    expect(await run('tail', 'CA0')).toMatchObject({ code: 1, err: expect.stringContaining('call_not_found') });
  });

  it('follows all calls until Ctrl-C, which ends it with 130', async () => {
    const before = process.listeners('SIGINT');
    const { terminal, out } = captureTerminal();
    const following = runCli(['tail'], terminal);
    await eventually(() => expect(process.listeners('SIGINT').length).toBeGreaterThan(before.length));
    const [press] = process.listeners('SIGINT').filter((listener) => !before.includes(listener));
    const id = await placeLive();
    await eventually(() => expect(out.text).toMatch(new RegExp(`…${id.slice(-6)} {4}0:0\\d {2}Maria K\\. .*bravo`)));
    press?.('SIGINT');
    expect(await following).toBe(130);
    expect(process.listeners('SIGINT')).toEqual(before);
  });
});

describe('trunkline status', () => {
  it('is a screen of lines, or the answer of the server', async () => {
    await placeEnded();
    const { code, out } = await run('status');
    expect(code).toBe(0);
    expect(out).toMatch(/^Trunkline \S+ at http:\S+: ready, up /);
    for (const label of ['Calls', 'Captions', 'Engines', 'Records', 'Disk', 'Ways in'])
      expect(out).toMatch(new RegExp(`^${label} +\\S`, 'm'));
    expect(JSON.parse((await run('status', '--json')).out)).toMatchObject({ state: 'ready' });
  });

  it('ends with 1 where nobody answers', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, err } = await run('status', '--url', url);
    expect(code).toBe(1);
    expect(err).toBe(`trunkline: ${url} does not answer (ECONNREFUSED)\n`);
  });
});

describe('trunkline export', () => {
  it('writes the calls of a search to standard output or to a private file', async () => {
    const id = await placeEnded();
    const { code, out } = await run('export', 'bravo', '--agent', 'tom');
    expect(code).toBe(0);
    const [call] = out.split('\n').map((line) => JSON.parse(line || 'null'));
    expect(call).toMatchObject({ id, transcript: [{ speaker: 'Maria K.' }] });

    const path = join(folder, 'calls.csv');
    const written = await run('export', '--format', 'csv', '--out', path, '--json');
    const { size, mode } = statSync(path);
    expect(JSON.parse(written.out)).toEqual({ path, bytes: size });
    expect(mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(/^callId,carrier/);
    expect((await run('export', '--out', folder)).err).toContain('is no file');
  });

  it('leaves a file as it was where the server breaks off', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200).write('half a call');
      setImmediate(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const path = join(folder, 'kept.jsonl');
    writeFileSync(path, 'before');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, err } = await run('export', '--url', url, '--out', path);
    server.close();
    expect([code, err]).toEqual([1, `trunkline: the answer of ${url} broke off before its end\n`]);
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readdirSync(folder).filter((name) => name.includes('kept'))).toEqual(['kept.jsonl']);
  });
});
