/** Calls over TLS with SRTP: a gateway and the phone in the box on real sockets, each with its own SRTP. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { PhoneCall } from '../../../src/carriers/sip/simulator/call.ts';
import type { SipPhone } from '../../../src/carriers/sip/simulator/phone.ts';
import { eventually } from '../../helpers/eventually.ts';
import { tlsText } from '../../helpers/tls-files.ts';
import { PHONE_TLS, SecureLine } from './secure-line.ts';

const QUIET = { audio: new Int16Array(0), endless: true };
const lines: SecureLine[] = [];
afterEach(async () => {
  for (const line of lines.splice(0)) await line.close();
});

async function open(environment: Record<string, string> = {}): Promise<SecureLine> {
  const line = await SecureLine.open(environment);
  lines.push(line);
  return line;
}

/** The keys that a description has. */
const keysIn = (sdp: string): string[] => [...sdp.matchAll(/inline:(\S+)/g)].map(([, key = '']) => key);

describe('a phone over TLS', () => {
  it('is heard and answered by SRTP, hung up by us over its own connection, and its keys are in no log', async () => {
    const line = await open({ LOG_LEVEL: 'debug' });
    // Without a certificate of its own nobody can connect to it.
    const phone = await line.phone({ ca: PHONE_TLS.ca ?? '' });
    const call = await phone.dial({ uri: line.uri, ...QUIET, srtp: true });
    await call.answered;
    await eventually(() => expect(line.gateway.registry.get(call.callId)).toMatchObject({ state: 'live' }));
    call.press('7');
    await eventually(() => expect(line.gateway.events.some(({ type }) => type === 'dtmf')).toBe(true));
    line.gateway.registry.voice(call.callId)?.sendDigits('3');
    await eventually(() => expect(call.media?.received.digits).toBe('3'));
    expect(call.media?.forged).toBe(0);
    line.gateway.registry.hangup(call.callId);
    // The calls' clock stands still, so that nobody waits for their last words.
    line.gateway.clock.advance(60_000);
    expect(await call.ended).toMatchObject({ endedBy: 'bridge' });
    const key = Buffer.from(call.media?.srtpKey ?? []).toString('base64');
    expect(key).toHaveLength(40);
    expect(line.gateway.logLines.join('')).not.toContain(key);
  });

  it('that leaves its media in the clear is taken, unless SRTP is required', async () => {
    const line = await open();
    const phone = await line.phone();
    const call = await phone.dial({ uri: line.uri, ...QUIET });
    await call.answered;
    const strict = await open({ SIP_SRTP: 'require' });
    const other = await strict.phone();
    await expect((await other.dial({ uri: strict.uri, ...QUIET })).answered).rejects.toMatchObject({ status: 488 });
    const secured = await other.dial({ uri: strict.uri, ...QUIET, srtp: true });
    await secured.answered;
  });

  it('may call a sips: address, and is told at once when it does not trust the certificate', async () => {
    const line = await open();
    const phone = await line.phone();
    const call = await phone.dial({ uri: `sips:bridge@127.0.0.1:${line.port}`, ...QUIET, srtp: true });
    await call.answered;
    const doubtful = await line.phone({ ca: tlsText('stranger.pem') });
    const refused = doubtful.dial({ uri: line.uri, ...QUIET });
    await expect((await refused).answered).rejects.toMatchObject({
      status: 408,
      words: 'SELF_SIGNED_CERT_IN_CHAIN',
    });
  });

  it('is refused where SRTP is off', async () => {
    const line = await open({ SIP_SRTP: 'off' });
    const phone = await line.phone();
    const call = await phone.dial({ uri: line.uri, ...QUIET, srtp: true });
    await expect(call.answered).rejects.toMatchObject({ status: 488 });
  });

  it('holds and resumes without a change of keys', async () => {
    const line = await open();
    const phone = await line.phone();
    const call = await phone.dial({ uri: line.uri, ...QUIET, srtp: true });
    await call.answered;
    await call.hold('inactive');
    await call.resume();
    call.press('9');
    await eventually(() => expect(line.gateway.events.some(({ type }) => type === 'dtmf')).toBe(true));
    await eventually(() => expect(call.media?.packets.length).toBeGreaterThan(5));
    expect(call.media?.forged).toBe(0);
  });
});

describe('a trunk over TLS', () => {
  async function trunk(environment: (phone: SipPhone) => Record<string, string>): Promise<[SecureLine, SipPhone]> {
    const far = await open();
    const phone = await far.phone();
    return [await open(environment(phone)), phone];
  }

  const dial = { to: '+14155550100', from: null, app: null, parameters: {} };

  it('is called with SRTP, under a sips: address where it has one', async () => {
    const [line, phone] = await trunk(({ port }) => ({ SIP_TRUNK: `sips:127.0.0.1:${port}` }));
    const { callId } = await line.agent.dial(dial);
    const call: PhoneCall = await phone.nextCall();
    const [, method, uri] = /^(\S+) (\S+)/.exec(call.invite?.start ?? '') ?? [];
    expect([method, uri]).toEqual(['INVITE', `sips:+14155550100@127.0.0.1:${phone.port}`]);
    const headers = Object.fromEntries(call.invite?.headers ?? []);
    expect(headers['Via']).toMatch(/^SIP\/2\.0\/TLS /);
    expect(headers['Contact']).toMatch(/^<sips:trunkline@127\.0\.0\.1:\d+>$/);
    expect(call.invite?.body).toMatch(/^m=audio \d+ RTP\/SAVP /m);
    const keys = keysIn(call.invite?.body ?? '');
    expect(new Set(keys).size).toBe(2);
    await call.answer({ ...QUIET, srtp: true });
    await eventually(() => expect(line.gateway.registry.get(callId)).toMatchObject({ state: 'live' }));
    await eventually(() => expect(call.media?.packets.length).toBeGreaterThan(5));
    expect(call.media?.forged).toBe(0);
    call.press('5');
    await eventually(() => expect(line.gateway.events.some(({ type }) => type === 'dtmf')).toBe(true));
    const logs = line.gateway.logLines.join('');
    for (const key of keys) expect(logs).not.toContain(key);
  });

  it('that takes no SRTP is asked again without', async () => {
    const [line, phone] = await trunk(({ port }) => ({ SIP_TRUNK: `sip:127.0.0.1:${port};transport=tls` }));
    await line.agent.dial(dial);
    const first = await phone.nextCall();
    first.refuse('488 Not Acceptable Here');
    const second = await phone.nextCall();
    expect(second.invite?.body).toMatch(/^m=audio \d+ RTP\/AVP /m);
    expect(second.invite?.body).not.toContain('crypto');
    await second.answer(QUIET);
    await eventually(() => expect(second.media?.packets.length).toBeGreaterThan(2));
  });

  it('whose certificate is for another name is not called, and the log says why', async () => {
    const [line] = await trunk(({ port }) => ({ SIP_TRUNK: `sip:localhost:${port};transport=tls` }));
    const { callId } = await line.agent.dial(dial);
    await eventually(() => expect(line.gateway.registry.get(callId)).toMatchObject({ state: 'ended' }));
    expect(line.gateway.logLines.join('')).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it.each([
    ['wants another certificate', { requestCert: true, ca: tlsText('stranger.pem') }, 'SIP_TLS_CERT'],
    ['speaks old TLS only', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }, 'TLS 1.2'],
  ] as const)('that %s: the log says what helps', async (_, options, hint) => {
    const files = { cert: tlsText('phone.pem'), key: tlsText('phone.key'), ca: tlsText('ca.pem') };
    const server = createServer({ ...files, ...options }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const line = await open({ SIP_TRUNK: `sips:127.0.0.1:${port}` });
    const { callId } = await line.agent.dial(dial);
    await eventually(() => expect(line.gateway.registry.get(callId)).toMatchObject({ state: 'ended' }));
    await eventually(() => expect(line.gateway.logLines.join('')).toContain('no TLS connection to a SIP peer'));
    expect(line.gateway.logLines.join('')).toMatch(new RegExp(`"hint":"[^"]*${hint}`));
    server.close();
  });
});
