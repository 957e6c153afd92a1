import { afterEach, expect, it } from 'vitest';
import { OFFER, request, SipLine } from './line.ts';

let line: SipLine;
afterEach(() => line.close());

it('a call that is refused is told in the log, with what would be taken, and not each time', async () => {
  line = new SipLine({ SIP_SRTP: 'require' });
  for (const callId of ['one@192.0.2.7', 'two@192.0.2.7'])
    await line.receive(request('INVITE', { callId, body: OFFER }));
  const told = line.gateway.logLines.filter((text) => text.includes('a SIP call was refused'));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/"address":"192\.0\.2\.7","statusCode":488,"code":"codec_unsupported"/);
  expect(told[0]).toMatch(/none of which is RTP\/SAVP with /);
});

it('of one that cannot be read only the code is told: what came may be a key', async () => {
  line = new SipLine();
  await line.receive(request('INVITE', { body: 'inline:s3cret' }));
  const told = line.gateway.logLines.filter((text) => text.includes('a SIP call was refused'));
  expect(told).toEqual([expect.stringContaining('"statusCode":400,"code":"message_malformed"')]);
  expect(told[0]).not.toContain('s3cret');
});
