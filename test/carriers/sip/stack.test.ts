/** Messages that make no call: what is answered at once, and what is dropped. */
import { afterEach, describe, expect, it } from 'vitest';
import { PEER, request, SipLine } from './line.ts';

let line: SipLine;
afterEach(() => line.close());

describe('other messages', () => {
  it.each([
    ['OPTIONS', 200],
    ['REFER', 405],
    ['REGISTER', 405],
    ['MESSAGE', 405],
    ['SUBSCRIBE', 405],
    ['BYE', 481],
    ['CANCEL', 481],
    ['INFO', 405],
    ['UPDATE', 481],
  ])('%s is answered with %i', async (method, status) => {
    line = new SipLine();
    await line.receive(request(method));
    expect(line.lines().map((first) => first.slice(8, 11))).toEqual([String(status)]);
  });

  it.each([
    ['of another address', request('OPTIONS'), { ...PEER, address: '203.0.113.66' }, 'address'],
    ['of a scanner', request('OPTIONS', { headers: ['User-Agent: friendly-scanner'] }), PEER, 'scanner'],
    ['that are none', 'hello\r\n\r\n', PEER, 'malformed'],
    [
      'of a scanner that cannot be read',
      request('OPTIONS', { headers: ['User-Agent: friendly-scanner', 'x'] }),
      PEER,
      'scanner',
    ],
    ['that acknowledge what cannot be read', request('ACK', { headers: ['hello'] }), PEER, 'malformed'],
  ])('%s get no answer and are counted', async (_what, text, source, reason) => {
    line = new SipLine();
    await line.receive(text, source);
    expect(line.sent).toEqual([]);
    expect(line.dropped).toEqual([reason]);
  });

  it.each(['', '\r\n\r\n', '\0\0'])('that keep a NAT open are no messages', async (text) => {
    line = new SipLine();
    await line.receive(text);
    expect([line.sent, line.dropped]).toEqual([[], []]);
  });
});
