/** A registration that is lost while it stands: how that is noticed, told and mended. */
import { URI } from 'sip.js/lib/core/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEEPALIVE_MS } from '../../../src/carriers/sip/registrar-watch.ts';
import { Registration } from '../../../src/carriers/sip/registration.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, headerIn, PEER, SipLine } from './line.ts';

const REGISTRAR = { host: PEER.address, port: PEER.port };
/** What we wait for an answer to OPTIONS. */
const SILENT_MS = KEEPALIVE_MS + 11_000;

let line: SipLine;
let registration: Registration;
let changes: boolean[];
let failures: string[];

beforeEach(async () => {
  line = new SipLine();
  changes = [];
  failures = [];
  const { clock, log } = line.gateway.context;
  registration = new Registration({
    stack: line.stack,
    registrar: new URI('sip', '', '192.0.2.7', 5062),
    user: 'bridge',
    route: [],
    port: 5062,
    refusalHint: 'SIP_USER or SIP_PASSWORD',
    onRequest: () => undefined,
    clock,
    log,
    random: () => 0,
    onChange: (registered) => void changes.push(registered),
    onFailure: (reason) => void failures.push(reason),
  });
  registration.start();
  await settle();
  await accept();
});
afterEach(() => line.close());

/** The registrar accepts the REGISTER that was sent last, for an hour. */
async function accept(): Promise<void> {
  const register = line.sent.map(({ text }) => text).filter((text) => text.startsWith('REGISTER'));
  line.take();
  await line.receive(answer(register.at(-1) ?? '', '200 OK', ['Expires: 3600']));
}

/** What is sent within this, by its method; repetitions are left out. OPTIONS are answered, if so, with `status`. */
async function pass(durationMs: number, status: string | null = '200 OK'): Promise<(string | undefined)[]> {
  const sent = new Set<string>();
  for (let leftMs = durationMs; leftMs > 0; leftMs -= 1000) {
    await line.gateway.clock.run(Math.min(leftMs, 1000), 1000);
    for (const text of line.take()) {
      if (status !== null && text.startsWith('OPTIONS') && !sent.has(text)) await line.receive(answer(text, status));
      sent.add(text);
    }
  }
  return [...sent].map((text) => text.split(' ')[0]);
}

/** Every REGISTER that was sent, repetitions left out. */
const registers = (): string[] =>
  [...new Set(line.sent.map(({ text }) => text))].filter((text) => text.startsWith('REGISTER'));

const told = (level: number): string[] =>
  line.gateway.logLines.map((text) => JSON.parse(text)).flatMap((entry) => (entry.level === level ? [entry.msg] : []));

/** The connection to the registrar breaks; returns what is sent at once. */
async function breakConnection(): Promise<(string | undefined)[]> {
  registration.connectionClosed(REGISTRAR);
  return pass(1);
}

describe('a connection to the registrar that breaks', () => {
  it('takes the registration with it, which is made again at once', async () => {
    await pass(60_000);
    expect(await breakConnection()).toEqual(['REGISTER']);
    expect([changes, registration.registered]).toEqual([[true, false], false]);
    await accept();
    expect(registration.registered).toBe(true);
    expect(told(40)).toEqual(['not registered: the connection to the registrar was closed']);
    expect(told(30)).toEqual(['registered', 'registered']);
    expect(failures).toEqual(['lost']);
  });

  it('of another peer takes nothing', async () => {
    registration.connectionClosed({ ...REGISTRAR, port: 5063 });
    registration.connectionClosed({ ...REGISTRAR, host: '192.0.2.8' });
    expect(await pass(1000)).toEqual([]);
    expect(registration.registered).toBe(true);
  });

  it('as soon as we are registered is met ever more rarely, and told once', async () => {
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      registration.connectionClosed(REGISTRAR);
      let waitedS = 0;
      while (!(await pass(1000)).includes('REGISTER')) waitedS++;
      waits.push(waitedS + 1);
      await accept();
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
    expect(told(40)).toEqual(['not registered: the connection to the registrar was closed']);
    expect(told(30)).toHaveLength(2);
  });

  it('leads to no storm while the registrar is away, and every trouble is told once', async () => {
    await pass(60_000);
    await breakConnection();
    for (let i = 0; i < 20; i++) {
      // Whatever connects is cut off before it gets an answer.
      registration.connectionClosed(REGISTRAR);
      await pass(60_000);
    }
    expect(told(40)).toEqual([
      'not registered: the connection to the registrar was closed',
      'not registered: the registrar closed the connection',
      'not registered: the registrar does not answer',
    ]);
    while (!(await pass(1000)).includes('REGISTER'));
    await accept();
    expect(told(30).at(-1)).toBe('registered');
    expect(registration.registered).toBe(true);
  });

  it('under a REGISTER is one failure, and no answer to it is waited for', async () => {
    await pass(60_000);
    await breakConnection();
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      registration.connectionClosed(REGISTRAR);
      const before = registers().length;
      let waitedS = 0;
      for (; registers().length === before; waitedS++) await line.gateway.clock.run(1000, 1000);
      waits.push(waitedS);
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
    expect(failures).toEqual(['lost', ...Array(6).fill('unreachable')]);
    registration.connectionClosed(REGISTRAR);
    registration.end();
    await settle();
    expect(headerIn(registers().at(-1) ?? '', 'Contact')).toContain('expires=0');
  });

  it('unnoticed, so that a REGISTER is not answered, is not used for the next one', async () => {
    // A registrar that answers no OPTIONS: nothing else shows that it is gone.
    await pass(SILENT_MS, null);
    const refreshMs = 3600 * 0.75 * 1000;
    expect(await pass(refreshMs, null)).toContain('REGISTER');
    expect([failures, line.disconnected]).toEqual([['unreachable'], [REGISTRAR]]);
  });

  it('at the end is none of our business any more', async () => {
    await pass(60_000);
    await breakConnection();
    registration.end();
    await accept();
    line.take();
    registration.connectionClosed(REGISTRAR);
    expect(await pass(600_000)).not.toContain('OPTIONS');
    expect(registration.registered).toBe(false);
  });
});

describe('a registrar that is asked by OPTIONS', () => {
  it.each(['200 OK', '401 Unauthorized', '404 Not Found', '503 Service Unavailable'])(
    'is there if it answers %s',
    async (status) => {
      expect(new Set(await pass(300_000, status))).toEqual(new Set(['OPTIONS']));
      expect(changes).toEqual([true]);
    },
  );

  it('is asked without credentials, whatever it demands', async () => {
    await line.gateway.clock.run(KEEPALIVE_MS, 1000);
    const [options = ''] = line.take();
    expect(options).toMatch(/^OPTIONS sip:192\.0\.2\.7:5062 SIP\/2\.0/);
    expect(headerIn(options, 'From')).toMatch(/^<sip:bridge@192\.0\.2\.7:5062>;tag=/);
    await line.receive(answer(options, '401 Unauthorized', ['WWW-Authenticate: Digest realm="pbx", nonce="n"']));
    expect(line.take()).toEqual([]);
  });

  it('and no longer answers has lost us: we register again at once, on a connection of its own', async () => {
    await pass(60_000);
    expect(await pass(SILENT_MS, null)).toEqual(['OPTIONS', 'REGISTER']);
    expect([changes, failures]).toEqual([[true, false], ['lost']]);
    expect(line.disconnected).toEqual([REGISTRAR]);
    expect(told(40)).toEqual(['not registered: the registrar no longer answers OPTIONS']);
    await accept();
    expect(registration.registered).toBe(true);
  });

  it('and never answered is not asked any more, but shown that we are there and asked by REGISTER more often', async () => {
    expect(await pass(SILENT_MS, null)).toEqual(['OPTIONS']);
    expect(changes).toEqual([true]);
    await pass(60_000, null);
    expect(line.sent.at(-1)).toEqual({ ...REGISTRAR, text: '\r\n\r\n' });
    expect(told(30).at(-1)).toContain('does not answer OPTIONS');
    await pass(2_700_000 - SILENT_MS - 60_000, null);
    await accept();
    expect(await pass(239_000, null)).not.toContain('REGISTER');
    expect(await pass(2000, null)).toContain('REGISTER');
  });
});

describe('a registrar that asks us by OPTIONS', () => {
  const asked = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      await pass(30_000);
      registration.asked(PEER.address);
    }
  };

  it('and stops may have forgotten us: it is told again', async () => {
    await asked(4);
    expect(await pass(89_000)).not.toContain('REGISTER');
    expect(await pass(2000)).toContain('REGISTER');
    expect(changes).toEqual([true]);
    expect(told(30).at(-1)).toContain('stopped sending OPTIONS');
    await accept();
    expect(await pass(600_000)).not.toContain('REGISTER');
  });

  it('is not missed before it has made a habit of it, nor is anybody else', async () => {
    registration.asked(PEER.address);
    registration.asked(PEER.address);
    await pass(30_000);
    registration.asked('192.0.2.99');
    expect(await pass(600_000)).not.toContain('REGISTER');
  });
});

describe('a registrar that has moved', () => {
  it('is told once', async () => {
    for (let i = 0; i < 2; i++) {
      expect(await pass(2_700_000)).toContain('REGISTER');
      const register = line.sent.filter(({ text }) => text.startsWith('REGISTER')).at(-1)?.text ?? '';
      await line.receive(answer(register, '200 OK', ['Expires: 3600']), { ...PEER, address: '192.0.2.20' });
    }
    expect(told(30).filter((text) => text.includes('address of the registrar changed'))).toHaveLength(1);
  });
});
