/** Our registration, message by message. */
import { URI } from 'sip.js/lib/core/index.js';
import { afterEach, describe, expect, it } from 'vitest';
import { Registration } from '../../../src/carriers/sip/registration.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, headerIn, SipLine } from './line.ts';

const CHALLENGE = 'WWW-Authenticate: Digest realm="pbx", nonce="n1", algorithm=SHA-256, qop="auth"';

let line: SipLine;
let registration: Registration;
let changes: boolean[];
let failures: string[];
afterEach(() => line.close());

/** Registers; returns the REGISTER. */
async function begin(): Promise<string> {
  line = new SipLine();
  changes = [];
  const { clock, log } = line.gateway.context;
  failures = [];
  registration = new Registration({
    stack: line.stack,
    registrar: new URI('sip', '', '192.0.2.7'),
    user: 'bridge',
    route: [],
    port: 5060,
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
  return line.take().at(-1) ?? '';
}

const seen = new Set(['1 REGISTER']);

/** The warnings of the log. */
const warnings = (): string[] =>
  line.gateway.logLines.map((text) => JSON.parse(text)).flatMap(({ level, msg }) => (level === 40 ? [msg] : []));

/** Every REGISTER that is sent within this. */
const all = async (durationMs: number): Promise<string[]> => {
  await line.gateway.clock.run(durationMs, 1000);
  return line.take().filter((text) => text.startsWith('REGISTER'));
};

/** The last REGISTER that is sent within this. */
const next = async (durationMs: number): Promise<string> => (await all(durationMs)).at(-1) ?? '';

describe('a registration', () => {
  it('names us and how long we wish to be known', async () => {
    const register = await begin();
    expect(register).toMatch(/^REGISTER sip:192\.0\.2\.7 SIP\/2\.0/);
    expect(headerIn(register, 'To')).toBe('<sip:bridge@192.0.2.7>');
    expect(headerIn(register, 'Contact')).toBe('<sip:bridge@198.51.100.1:5060>;expires=600');
    await line.receive(answer(register, '200 OK'));
    expect(changes).toEqual([true]);
    expect(registration.registered).toBe(true);
  });

  it('shows its credentials, and does not show them twice in vain', async () => {
    const register = await begin();
    await line.receive(answer(register, '401 Unauthorized', [CHALLENGE]));
    const again = line.take().at(-1) ?? '';
    expect(headerIn(again, 'Authorization')).toMatch(/^Digest username="bridge", .*algorithm=SHA-256$/);
    expect(headerIn(again, 'CSeq')).toBe('2 REGISTER');
    await line.receive(answer(again, '401 Unauthorized', [CHALLENGE]));
    expect(line.take()).toEqual([]);
    expect(line.gateway.logLines.join()).toContain('not registered');
    expect(line.gateway.logLines.join()).not.toContain('secret');
  });

  it('is not refused by a challenge that comes twice, as it does when a request was sent again', async () => {
    const register = await begin();
    const challenge = answer(register, '401 Unauthorized', [CHALLENGE]);
    await line.receive(challenge);
    const again = line.take().at(-1) ?? '';
    await line.receive(challenge);
    expect(line.gateway.logLines.join()).not.toContain('not registered');
    await line.receive(answer(again, '200 OK'));
    await line.receive(challenge);
    expect([changes, line.take()]).toEqual([[true], []]);
  });

  it('begins again with a new nonce when the old one was stale', async () => {
    const register = await begin();
    await line.receive(answer(register, '401 Unauthorized', [CHALLENGE]));
    await line.receive(
      answer(line.take().at(-1) ?? '', '401 Unauthorized', [
        CHALLENGE.replace('n1', 'n2').replace('qop', 'stale=true, qop'),
      ]),
    );
    const third = line.take().at(-1) ?? '';
    expect(headerIn(third, 'Authorization')).toContain('nonce="n2"');
    await line.receive(answer(third, '200 OK'));
    expect(changes).toEqual([true]);
  });

  it('is refreshed before what was granted is over, under one Call-ID and with growing numbers', async () => {
    const register = await begin();
    const others = 'Contact: <sip:bridge@192.0.2.50:5060>;expires=5, <sip:bridge@198.51.100.1:5060>;expires=100';
    await line.receive(answer(register, '200 OK', [others]));
    expect(await next(74_000)).toBe('');
    const refresh = await next(2000);
    expect(refresh).toMatch(/^REGISTER /);
    expect(headerIn(refresh, 'Call-ID')).toBe(headerIn(register, 'Call-ID'));
    expect(headerIn(refresh, 'CSeq')).toBe('2 REGISTER');
  });

  it('asks for longer where the registrar wants that', async () => {
    const register = await begin();
    await line.receive(answer(register, '423 Interval Too Brief', ['Min-Expires: 1800']));
    expect(headerIn(await next(1000), 'Contact')).toContain('expires=1800');
  });

  it('does not follow a registrar that asks for longer without an end', async () => {
    let register = await begin();
    for (let i = 1; i <= 6; i++) {
      await line.receive(answer(register, '423 Interval Too Brief', [`Min-Expires: ${600 + i}`]));
      register = await next(1000);
      expect(register === '').toBe(i === 6);
    }
    expect(warnings()).toEqual(['not registered: the registrar answered 423']);
  });

  it.each([
    ['for no time', ['Expires: 0']],
    ['with our contact at its end', ['Contact: <sip:bridge@198.51.100.1:5060>;expires=0', 'Expires: 600']],
  ])('that is accepted %s is none', async (_, headers) => {
    const register = await begin();
    await line.receive(answer(register, '200 OK', headers));
    expect([registration.registered, changes, failures]).toEqual([false, [], ['refused']]);
    expect(await next(4000)).toBe('');
    expect(await next(2000)).toMatch(/^REGISTER /);
    expect(warnings()).toEqual(['not registered: the registrar granted no time (Expires: 0)']);
  });

  it.each([
    [
      'a port that begins like ours',
      'Contact: <sip:bridge@198.51.100.1:50600>;expires=5, <sip:bridge@198.51.100.1:5060>;expires=100',
      75,
    ],
    ['another address for us', 'Contact: <sip:bridge@192.0.2.50:40001>;expires=80', 60],
    [
      'others alone, one of them at its end',
      'Contact: <sip:bridge@192.0.2.50:40001>;expires=1, <sip:bridge@192.0.2.51>;expires=500',
      40,
    ],
    ['contacts of no time, and says none', 'Contact: <sip:bridge@192.0.2.50:40001>', 450],
    ['more than a day', 'Contact: <sip:bridge@198.51.100.1:5060>;expires=2147483648', 64_800],
  ])('is refreshed in time where the registrar has %s', async (_, header, refreshS) => {
    const register = await begin();
    await line.receive(answer(register, '200 OK', [header]));
    line.take();
    await line.gateway.clock.run((refreshS - 1) * 1000, Math.max(1000, refreshS * 10));
    expect(line.take().filter((text) => text.startsWith('REGISTER'))).toEqual([]);
    expect((await all(2000)).length).toBeGreaterThan(0);
  });

  it('is tried again ever more rarely after a failure, and not before the registrar says', async () => {
    let register = await begin();
    await line.receive(answer(register, '500 Server Internal Error'));
    expect(await next(4000)).toBe('');
    register = await next(2000);
    await line.receive(answer(register, '500 Server Internal Error'));
    expect(await next(9000)).toBe('');
    register = await next(2000);
    await line.receive(answer(register, '503 Service Unavailable', ['Retry-After: 60']));
    expect(await next(58_000)).toBe('');
    expect(await next(3000)).toMatch(/^REGISTER /);
  });

  it('with a wrong password is not tried again for minutes, and that is told once', async () => {
    let register = await begin();
    for (let i = 0; i < 3; i++) {
      await line.receive(answer(register, '403 Forbidden'));
      expect(await next(299_000)).toBe('');
      register = await next(2000);
      expect(register).toMatch(/^REGISTER /);
    }
    expect(warnings()).toEqual(['not registered: the registrar answered 403']);
    expect(line.gateway.logLines.join()).toContain('SIP_PASSWORD');
    expect(failures).toEqual(['refused', 'refused', 'refused']);
  });

  it('is not lost to a registrar that says nothing: it is asked again and again, at last every minute', async () => {
    await begin();
    const sentAtS: number[] = [];
    for (let s = 1; s <= 600; s++) {
      const numbers = (await all(1000)).map((text) => headerIn(text, 'CSeq'));
      if (numbers.some((number) => !seen.has(number))) sentAtS.push(s);
      for (const number of numbers) seen.add(number);
    }
    expect(sentAtS).toEqual([37, 79, 131, 203, 295, 387, 479, 571]);
    expect(warnings()).toEqual(['not registered: the registrar does not answer']);
  });

  it('ends when we do, once', async () => {
    const register = await begin();
    await line.receive(answer(register, '200 OK'));
    registration.end();
    registration.end();
    await settle();
    const [last = '', ...more] = line.take();
    expect(headerIn(last, 'Contact')).toBe('<sip:bridge@198.51.100.1:5060>;expires=0');
    expect(more).toEqual([]);
    expect(line.stack.isWaiting).toBe(true);
    await line.receive(answer(last, '200 OK'));
    expect(line.stack.isWaiting).toBe(false);
    expect(changes).toEqual([true, false]);
    expect(await next(1_000_000)).toBe('');
  });

  it('that is being made when we end is ended as soon as it is made', async () => {
    const register = await begin();
    registration.end();
    await line.receive(answer(register, '200 OK'));
    const last = line.take().at(-1) ?? '';
    expect(headerIn(last, 'Contact')).toContain('expires=0');
    expect(line.stack.isWaiting).toBe(true);
    await line.receive(answer(last, '200 OK'));
    expect([changes, line.take(), line.gateway.clock.pending]).toEqual([[], [], 0]);
  });

  it('that waits to be tried again is not tried when we end', async () => {
    const register = await begin();
    await line.receive(answer(register, '503 Service Unavailable'));
    registration.end();
    expect(await next(1_000_000)).toBe('');
  });

  it('that never was has nothing to end', async () => {
    await begin();
    registration.end();
    await settle();
    expect(line.take()).toEqual([]);
  });
});
