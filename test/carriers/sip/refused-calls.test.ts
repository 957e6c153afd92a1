import { afterEach, expect, it } from 'vitest';
import { OFFER, PEER, request, SipLine, TRUNK_ADDRESS } from './line.ts';

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

it('those that are only counted are told as a number after ten seconds', async () => {
  line = new SipLine({ SIP_SRTP: 'require' });
  for (const callId of ['one@192.0.2.7', 'two@192.0.2.7', 'three@192.0.2.7'])
    await line.receive(request('INVITE', { callId, body: OFFER }));
  await line.gateway.clock.run(10_000, 1000);
  const told = line.gateway.logLines.filter((text) => text.includes('a SIP call was refused'));
  expect(told).toHaveLength(2);
  expect(JSON.parse(told[1] ?? '{}')).toMatchObject({ statusCode: 488, more: 2 });
});

it.each([
  ['for want of room', { MAX_CALLS: '1' }, { headers: [], body: OFFER }, 503],
  ['because of a required extension', {}, { headers: ['Require: nothing-known'], body: OFFER }, 420],
  ['because of a body that is not understood', {}, { type: 'text/plain', body: 'x' }, 415],
  ['because it replaces no call', {}, { headers: ['Replaces: a;to-tag=b;from-tag=c'], body: OFFER }, 481],
  ['because of its session timer', {}, { headers: ['Supported: timer', 'Session-Expires: 30'], body: OFFER }, 422],
])('a call that is refused %s has a line in the log', async (_why, environment, options, statusCode) => {
  line = new SipLine(environment);
  if (statusCode === 503) await line.receive(request('INVITE', { callId: 'zero@192.0.2.7', body: OFFER }));
  await line.receive(request('INVITE', { callId: 'one@192.0.2.7', ...options }));
  expect(line.lines().at(-1)).toContain(`SIP/2.0 ${statusCode} `);
  const told = line.gateway.logLines.filter((text) => text.includes('a SIP call was refused'));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? '{}')).toMatchObject({ address: '192.0.2.7', statusCode });
});

it('a trunk of ours may have as many calls as there is room for, whatever one address may have', async () => {
  line = new SipLine({ SIP_DIALOGS_MAX: '1' });
  const answers: string[] = [];
  for (const [address, callId] of [
    [PEER.address, 'one'],
    [PEER.address, 'two'],
    [TRUNK_ADDRESS, 'three'],
    [TRUNK_ADDRESS, 'four'],
  ] as const) {
    await line.receive(request('INVITE', { callId, body: OFFER }), { ...PEER, address });
    answers.push(line.lines().at(-1) ?? '');
  }
  expect(answers.map((text) => text.slice(8, 11))).toEqual(['200', '503', '200', '200']);
});
