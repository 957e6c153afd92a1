import { describe, expect, it } from 'vitest';
import { describeSip, fitSip } from '../../../../src/carriers/sip/wire/sent-message.ts';
import { message, read } from './messages.ts';

describe('describeSip', () => {
  it('sends a request where its route leads, else where it is for', () => {
    const ack = (route: string) =>
      `ACK sip:a@192.0.2.1:5070 SIP/2.0\r\n${route}Via: SIP/2.0/UDP h;branch=z9hG4bKx\r\n\r\n`;
    expect(describeSip(ack(''))).toEqual({
      kind: 'request',
      method: 'ACK',
      statusCode: null,
      transaction: 'z9hG4bKx',
      destination: { host: '192.0.2.1', port: 5070 },
    });
    expect(describeSip(ack('Route: <sip:proxy.example.com;lr>, <sip:b>\r\n')).destination).toEqual({
      host: 'proxy.example.com',
      port: 5060,
    });
  });

  it('sends an answer back where its request came from', () => {
    const ok = (via: string) => describeSip(`SIP/2.0 200 OK\r\nVia: ${via}\r\nCSeq: 1 BYE\r\n\r\n`);
    expect(ok('SIP/2.0/UDP 10.0.0.5:5080;branch=z9hG4bKx;received=192.0.2.7;rport=4000')).toMatchObject({
      kind: 'response',
      method: 'BYE',
      statusCode: 200,
      destination: { host: '192.0.2.7', port: 4000 },
    });
    expect(ok('SIP/2.0/UDP [::1]:5080;branch=z9hG4bKx;received=192.0.2.7').destination).toEqual({
      host: '192.0.2.7',
      port: 5080,
    });
    expect(ok('SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKx;received=192.0.2.7').destination).toEqual({
      host: '192.0.2.7',
      port: 5060,
    });
    expect(ok('SIP/2.0/UDP 10.0.0.5;branch=z9hG4bKx').destination).toBeNull();
  });
});

describe('fitSip', () => {
  const names = [
    'Via: SIP/2.0/UDP h;branch=z9hG4bKa',
    'From: <sip:a@h>;tag=1',
    'To: <sip:b@h>;tag=2',
    'CSeq: 1 OPTIONS',
    'Call-ID: c',
  ];
  const whole = message([
    'SIP/2.0 503 Service Unavailable',
    ...names,
    'User-Agent: T',
    'Retry-After: 10',
    'Allow: INVITE',
    'Content-Length: 0',
  ]);
  const lean = message(['SIP/2.0 503 Service Unavailable', ...names, 'Retry-After: 10']);
  const compact = lean.replace('Via: ', 'v:').replace('From: ', 'f:').replace('To: ', 't:').replace('Call-ID: ', 'i:');
  const bare = compact.replace('Service Unavailable', '');

  it.each([whole, lean, compact, bare])('leaves out no more than it must', (text) => {
    expect(fitSip(whole, text.length)).toBe(text);
  });

  it('gives up where not even the least goes', () => expect(fitSip(whole, bare.length - 1)).toBeNull());

  it('makes answers that are still read', () => {
    expect(describeSip(bare)).toMatchObject({ kind: 'response', statusCode: 503 });
    expect(read(bare.replace('h;branch', 'h;rport;branch'))).toMatchObject({ statusCode: 503, method: 'OPTIONS' });
  });
});
