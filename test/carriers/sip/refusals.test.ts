/** Requests that are refused before they are anything else, and what their senders get to know. */
import { afterEach, describe, expect, it } from 'vitest';
import { headerIn, OFFER, request, SipLine } from './line.ts';

let line: SipLine;
afterEach(() => line.close());

describe('requests', () => {
  it('with a header that cannot be read get to know which it is', async () => {
    line = new SipLine();
    const contact = '<<<'.padEnd(100, '<');
    await line.receive(request('INVITE', { body: OFFER }).replace('<sip:caller@192.0.2.7:5062>', contact));
    expect(line.lines()).toEqual([
      'SIP/2.0 400 Bad Request: got a header contact that cannot be read, expected one as in RFC 3261',
    ]);
    expect(line.refused).toEqual([400]);
  });

  it('with a body that is encoded get to know that it may not be', async () => {
    line = new SipLine();
    await line.receive(request('INVITE', { body: OFFER, headers: ['Content-Encoding: gzip'] }));
    const [refusal = ''] = line.take();
    expect(refusal).toMatch(/^SIP\/2\.0 415/);
    expect(headerIn(refusal, 'Accept-Encoding')).toBe('identity');
    await line.receive(request('INVITE', { body: OFFER, headers: ['e: Identity', 'Accept: text/plain, */*;q=0.1'] }));
    expect(line.lines().at(-1)).toBe('SIP/2.0 200 OK');
  });

  it('get the same tag when they come again', async () => {
    line = new SipLine();
    const again = request('REGISTER', { headers: [`Subject: ${'x'.repeat(200)}`] });
    for (const text of [again, again, request('REGISTER', { callId: 'other' })]) await line.receive(text);
    const tags = line.take().map((answer) => /tag=(\S+)/.exec(headerIn(answer, 'To') || headerIn(answer, 't'))?.[1]);
    expect(tags[0]).toMatch(/^[\w-]{12}$/);
    expect([tags[1] === tags[0], tags[2] === tags[0]]).toEqual([true, false]);
  });
});
