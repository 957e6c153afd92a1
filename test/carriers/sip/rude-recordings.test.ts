/** Recordings of those who do not keep to the rules: each costs little and leaves nothing behind. */
import { afterEach, describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { headerIn, request, SipLine } from './line.ts';
import { inviteOf, record, streamsIn, within } from './recording-offers.ts';

let line: SipLine;
afterEach(() => line.close());

const TCP = { protocol: 'TCP', address: '192.0.2.7', port: 5062 } as const;
const nameAnew = (i: number) => (text: string) =>
  text.replace('cisco@', `c${i}@`).replace('z9hG4bKcisco', `z9hG4bKc${i}`);
const isLeft = (): boolean => line.gateway.registry.liveCount > 0 || line.media.some(({ closed }) => !closed);

describe('a rude recording', () => {
  it.each<[string, (text: string) => string, number]>([
    ['without a delimiter', (text) => text.replaceAll('--uniqueBoundary', ''), 400],
    ['of a hundred parts', (text) => text + '--uniqueBoundary\n\nx\n'.repeat(100), 513],
    ['with a part of a thousand headers', (text) => `${text}--uniqueBoundary\n${'X: y\n'.repeat(1000)}\nx`, 513],
    ['without a description that can be read', (text) => text.replace('v=0', 'v=1'), 400],
    ['of streams that nobody knows', (text) => text.replaceAll('m=audio', 'm=image'), 488],
    ['of a hundred streams', (text) => text.replace('m=audio', `${'m=audio 4000 RTP/AVP 0\n'.repeat(99)}m=audio`), 413],
  ])('%s is refused', async (_, change, status) => {
    line = new SipLine();
    await line.receive(inviteOf('cisco', change), TCP);
    await settle();
    expect(line.lines().at(-1)).toMatch(new RegExp(`^SIP/2\\.0 ${status} `));
    expect(isLeft()).toBe(false);
  });

  it.each([
    ['elements without end', '<participant participant_id="a">'.repeat(500)],
    ['elements in each other', `${'<a>'.repeat(500)}${'</a>'.repeat(500)}`],
    ['entities', '<!DOCTYPE r [<!ENTITY a "b">]><recording>&a;</recording>'],
    ['attributes', `<recording ${Array.from({ length: 500 }, (_, i) => `k${i}="1"`).join(' ')}/>`],
    ['nothing', ''],
  ])('with metadata of %s is taken all the same', async (_, xml) => {
    line = new SipLine();
    const invite = inviteOf('cisco', (text) => text.replace(/<\?xml.*<\/recording>/s, xml));
    const { answer } = await record(line, invite);
    expect(streamsIn(answer)).toEqual(['RTP/AVP 0 101 1', 'RTP/AVP 0 101 2']);
    expect(line.gateway.registry.list()).toMatchObject([{ carrier: 'siprec', from: 'src' }]);
  });

  it('that is never acknowledged is no call, and gives its ports back with the others', async () => {
    line = new SipLine();
    for (let i = 0; i < 3; i++) await line.receive(inviteOf('cisco', nameAnew(i)));
    expect(line.media).toHaveLength(6);
    line.switchboard.close();
    expect(isLeft()).toBe(false);
    expect(line.gateway.events).toEqual([]);
  });

  it('that is taken back before its answer leaves no ports behind', async () => {
    line = new SipLine();
    let release = (): void => undefined;
    line.held = new Promise((resolve) => {
      release = resolve;
    });
    const invite = inviteOf('cisco');
    await line.receive(invite);
    const cancel = invite.replace(/^INVITE/, 'CANCEL').replace('CSeq: 1 INVITE', 'CSeq: 1 CANCEL');
    await line.receive(`${cancel.slice(0, cancel.indexOf('Content-Type:'))}Content-Length: 0\r\n\r\n`);
    release();
    await settle();
    expect(line.lines()).toContainEqual(expect.stringMatching(/^SIP\/2\.0 487/));
    expect(isLeft()).toBe(false);
  });

  it('that changes all the time is slowed down, and goes on', async () => {
    line = new SipLine();
    const recording = await record(line, inviteOf('cisco'));
    const body = '<recording><datamode>partial</datamode></recording>';
    const type = 'application/rs-metadata+xml';
    for (let cseq = 2; cseq < 400; cseq++) await line.receive(within(recording, 'UPDATE', { cseq, type, body }));
    expect(line.dropped.filter((reason) => reason === 'rate').length).toBeGreaterThan(200);
    expect(line.gateway.registry.liveCount).toBe(1);
  });
});

it('an address that has as many calls as it may have is told to the operator once', async () => {
  line = new SipLine({ SIP_DIALOGS_MAX: '2' });
  const answers: string[] = [];
  for (let i = 0; i < 4; i++) answers.push((await record(line, inviteOf('cisco', nameAnew(i)))).answer.slice(8, 11));
  expect(answers).toEqual(['200', '200', '503', '503']);
  expect(line.gateway.logLines.filter((text) => text.includes('the most allowed'))).toHaveLength(1);
  await line.receive(request('OPTIONS', { callId: 'o' }));
  expect(headerIn(line.take().at(-1) ?? '', 'Via')).not.toBe('');
});

it('twenty recordings of one border controller come at once over TCP', async () => {
  line = new SipLine({ MAX_CALLS: '20' });
  const padding = `<extensiondata>${'x'.repeat(8000)}</extensiondata></recording>`;
  for (let i = 0; i < 20; i++) {
    const change = (text: string): string => nameAnew(i)(text).replace('</recording>', padding);
    await record(line, inviteOf('cisco', change));
  }
  expect([line.gateway.registry.liveCount, line.dropped]).toEqual([20, []]);
});
