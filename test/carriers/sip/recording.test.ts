/** Recordings by SIPREC, message by message. */
import { afterEach, describe, expect, it } from 'vitest';
import { nextTurn } from '../../../src/foundation/next-turn.ts';
import { settle } from '../../fakes/clock.ts';
import { answer as answerTo, bodyIn, headerIn, OFFER, request, SipLine } from './line.ts';
import { inviteOf, OFFERS, type Recording, record, streamsIn, within } from './recording-offers.ts';

let line: SipLine;
afterEach(() => line.close());

const started = () => line.gateway.events.find((event) => event.type === 'call.started');

describe('the recording that a vendor sends', () => {
  it.each(Object.entries(OFFERS))('%s: becomes one call with its parties and tracks', async (name, expected) => {
    line = new SipLine();
    const { answer } = await record(line, inviteOf(name));
    expect(answer).toMatch(/^SIP\/2\.0 200/);
    expect(streamsIn(answer)).toEqual(expected.answer);
    expect(bodyIn(answer).match(/^a=recvonly\r$/gm)).toHaveLength(expected.answer.length);
    const { from, to, names, references } = expected;
    const tracks = expected.tracks.length === 1 ? ['inbound'] : ['inbound', 'outbound'];
    const sipCallId = headerIn(answer, 'Call-ID');
    expect(started()).toMatchObject({ carrier: 'siprec', from, to, names, tracks });
    expect(started()).toMatchObject({ references: { sipCallId, ...references } });
    expect(Object.keys(started()?.references ?? {})).toHaveLength(1 + Object.keys(references).length);
    expect(line.media.map(({ remotes }) => remotes[0]?.format.name)).toEqual(expected.codecs);
    expect(line.media.every(({ remotes }) => remotes[0]?.sends === true && remotes[0].receives === false)).toBe(true);
  });
});

/** The description of two streams, with what is said of each. */
const offer = (version: number, ...streams: string[]): string =>
  `v=0\r\no=- 7 ${version} IN IP4 192.0.2.7\r\ns=-\r\nc=IN IP4 192.0.2.7\r\nt=0 0\r\n${streams.join('')}`;
const audio = (port: number, label: string, direction = 'sendonly'): string =>
  `m=audio ${port} RTP/AVP 0\r\na=label:${label}\r\na=${direction}\r\n`;

const chunk = (sequence: number, atMs: number) => ({ bytes: new Uint8Array(160).fill(0xff), atMs, sequence });
const events = (type: string) => line.gateway.events.filter((event) => event.type === type);
const states = () => line.gateway.events.flatMap((event) => (event.type === 'call.state' ? [event.state] : []));
const live = () => line.gateway.registry.list()[0];

/** A request in the dialog, and the first line of its answer; an INVITE is acknowledged. */
async function ask(recording: Recording, method: string, options: Parameters<typeof within>[2]): Promise<string> {
  await line.receive(within(recording, method, options));
  const answer = line.take().at(-1) ?? '';
  if (method === 'INVITE' && answer.startsWith('SIP/2.0 200'))
    await line.receive(within(recording, 'ACK', { cseq: options?.cseq ?? 1 }));
  return answer;
}

describe('the answer to a recording', () => {
  it('says that we record', async () => {
    line = new SipLine();
    const { answer } = await record(line, inviteOf('cisco'));
    expect(answer.match(/^Contact: .*\r$/gm)).toEqual(['Contact: <sip:trunkline@198.51.100.1:5060>;+sip.srs\r']);
    expect(headerIn(answer, 'Supported')).toBe('timer, siprec, replaces');
    expect(answer.match(/^Require: .*\r$/gm)).toEqual(['Require: timer\r', 'Require: siprec\r']);
    expect(headerIn(answer, 'Session-Expires')).toBe('1800;refresher=uac');
    // An answer over UDP is no longer than its request.
    await line.receive(request('OPTIONS', { callId: 'o', headers: [`X-Long: ${'x'.repeat(300)}`] }));
    const options = line.take().at(-1) ?? '';
    expect(headerIn(options, 'Accept')).toContain('application/rs-metadata+xml');
  });

  it('requires nothing of who required nothing, and a telephone hears nothing of it', async () => {
    line = new SipLine();
    expect((await record(line, inviteOf('avaya'))).answer).not.toMatch(/^Require/m);
    await line.receive(request('INVITE', { body: OFFER }));
    expect(line.take().at(-1)).not.toContain('+sip.srs');
  });

  it('is a refusal when no stream can be taken, and when a part must be understood', async () => {
    line = new SipLine();
    const secured = inviteOf('ribbon', (text) => text.replaceAll('RTP/AVP 8 97', 'RTP/AVP 18'));
    expect((await record(line, secured)).answer).toMatch(/^SIP\/2\.0 488/);
    const required = inviteOf('cisco', (text) => text.replace('signal;handling=optional', 'signal;handling=required'));
    expect((await record(line, required)).answer).toMatch(/^SIP\/2\.0 415 Unsupported Media Type/);
    expect(line.media.every(({ closed }) => closed)).toBe(true);
    expect(line.gateway.registry.liveCount).toBe(0);
  });

  it('is a refusal when there is no room, as with all calls', async () => {
    line = new SipLine({ MAX_CALLS: '1' });
    await record(line, inviteOf('cisco'));
    expect((await record(line, inviteOf('ribbon'))).answer).toMatch(/^SIP\/2\.0 503/);
  });

  it('gives back the first pair of ports when there is no second', async () => {
    line = new SipLine();
    const { openRecordingMedia } = line.services;
    let opened = 0;
    Object.assign(line.services, {
      openRecordingMedia: () => (opened++ === 0 ? openRecordingMedia() : Promise.reject(new Error('no port'))),
    });
    expect((await record(line, inviteOf('cisco'))).answer).toMatch(/^SIP\/2\.0 500/);
    expect(line.media.map(({ closed }) => closed)).toEqual([true]);
  });
});

describe('a recording', () => {
  it('only listens: no app is connected, and nothing can be said', async () => {
    line = new SipLine({ APP_URL: 'wss://app.example.com/' });
    const { callId } = await record(line, inviteOf('cisco'));
    expect(live()).toMatchObject({ carrier: 'siprec', app: null });
    expect(() => line.gateway.registry.voice(callId)?.say('Hello.')).toThrow('its stream only listens');
    expect(line.media.every(({ sent }) => sent.length === 0)).toBe(true);
  });

  it('has the sound of each stream on its track, in one time', async () => {
    line = new SipLine();
    const tracks: [string, number][] = [];
    await record(line, inviteOf('sonus'));
    const [callee, caller] = line.media;
    const { clock } = line.gateway;
    const tell = (media: typeof callee, sequence: number, atMs: number): void => {
      media?.listener?.receiveAudio(chunk(sequence, atMs));
      tracks.push([media === caller ? 'inbound' : 'outbound', live()?.durationMs ?? 0]);
    };
    tell(callee, 1, 0);
    await clock.advance(500);
    // Its own time begins with its first packet, 500 ms after that of the other.
    tell(caller, 1, 0);
    tell(caller, 2, 20);
    expect(tracks).toEqual([
      ['outbound', 20],
      ['inbound', 520],
      ['inbound', 540],
    ]);
    caller?.listener?.receiveDigit('5');
    expect(events('dtmf')).toMatchObject([{ digit: '5' }]);
  });

  it('has its tracks exchanged when that is wished', async () => {
    line = new SipLine();
    const swapped = inviteOf('cisco', (text) => text.replace('sip:recorder@', 'sip:recorder;swap@'));
    await record(line, swapped);
    line.media[1]?.listener?.receiveAudio(chunk(1, 0));
    expect(started()).toMatchObject({
      from: '7301',
      to: '7300',
      names: { inbound: 'J\u00fcrgen & S\u00f6hne', outbound: null },
    });
  });

  it('is held while all of its streams are inactive', async () => {
    line = new SipLine();
    const recording = await record(line, inviteOf('cisco'));
    const both = (direction: string, cseq: number) =>
      ({ cseq, body: offer(cseq, audio(10292, '1', direction), audio(10294, '2', direction)) }) as const;
    const answer = await ask(recording, 'INVITE', both('inactive', 2));
    expect(bodyIn(answer).match(/^a=inactive\r$/gm)).toHaveLength(2);
    expect([states(), live()?.phase]).toEqual([['held'], 'held']);
    await ask(recording, 'UPDATE', both('sendonly', 3));
    expect(states()).toEqual(['held', 'live']);
    expect(line.media.map(({ remotes }) => remotes.map(({ sends }) => sends))).toEqual([
      [true, false, true],
      [true, false, true],
    ]);
  });

  it('takes the stream of somebody new where another one has ended', async () => {
    line = new SipLine();
    const recording = await record(line, inviteOf('cisco'));
    const streams = [audio(0, '1'), audio(10294, '2'), audio(10296, '3'), audio(10298, '4')];
    const answer = await ask(recording, 'INVITE', { cseq: 2, body: offer(2, ...streams) });
    expect(streamsIn(answer)).toEqual(['refused', 'RTP/AVP 0 2', 'RTP/AVP 0 3', 'refused']);
    expect(line.media.map(({ remotes }) => remotes.at(-1)?.port)).toEqual([10296, 10294]);
    expect(line.media).toHaveLength(2);
    const ended = [audio(0, '1'), audio(0, '2'), audio(0, '3'), audio(0, '4')];
    expect(streamsIn(await ask(recording, 'INVITE', { cseq: 3, body: offer(3, ...ended) }))).toEqual([
      'refused',
      'refused',
      'refused',
      'refused',
    ]);
    expect(live()).toMatchObject({ state: 'live', phase: 'held' });
  });

  it('takes note of metadata that change, also of those alone, and of broken ones in the log', async () => {
    line = new SipLine();
    const recording = await record(line, inviteOf('cisco'));
    const xml = (content: string): string => `<recording><datamode>partial</datamode>${content}</recording>`;
    const eve = '<participant participant_id="eve"><nameID aor="sip:secret-eve@h"/></participant>';
    const update = { cseq: 2, type: 'application/rs-metadata+xml', body: xml(eve) };
    expect(await ask(recording, 'UPDATE', update)).toMatch(/^SIP\/2\.0 200/);
    expect(line.gateway.logLines.at(-1)).toContain('"participants":3');
    expect(await ask(recording, 'UPDATE', { ...update, cseq: 3, body: xml('<a>') })).toMatch(/^SIP\/2\.0 200/);
    expect(line.gateway.logLines.at(-1)).toContain('cannot be read');
    const parts = [
      ['application/rs-metadata+xml', xml('')],
      ['application/sdp', offer(4, audio(10292, '1'), audio(10294, '2'))],
    ];
    const body = parts.map(([type, content]) => `--x\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`).join('');
    const both = await ask(recording, 'INVITE', { cseq: 4, type: 'multipart/mixed;boundary=x', body });
    expect(streamsIn(both)).toEqual(['RTP/AVP 0 1', 'RTP/AVP 0 2']);
    expect(line.gateway.logLines.join()).not.toContain('secret-eve');
  });

  it('is asked for all metadata when an update names somebody whom nobody has described', async () => {
    line = new SipLine();
    const accept = 'Accept: application/sdp, application/rs-metadata-request\nSession-Expires';
    const recording = await record(
      line,
      inviteOf('cisco', (text) => text.replace('Session-Expires', accept)),
    );
    const metadata = (mode: string, content: string) => ({
      type: 'application/rs-metadata+xml',
      body: `<recording><datamode>${mode}</datamode>${content}</recording>`,
    });
    const joins = '<participantstreamassoc participant_id="eve"><send>lost</send></participantstreamassoc>';
    const partial = metadata('partial', joins);
    const headers = ['Supported: timer', 'Session-Expires: 1800;refresher=uac'];
    await line.receive(within(recording, 'UPDATE', { cseq: 2, headers, ...partial }));
    await nextTurn();
    const [answer = '', question = ''] = line.take();
    expect(answer).toMatch(/^SIP\/2\.0 200/);
    expect(question).toMatch(/^UPDATE sip:/);
    expect(headerIn(question, 'Content-Type')).toBe('application/rs-metadata-request');
    expect(headerIn(question, 'Content-Disposition')).toBe('recording-session');
    // Without it the update would end the session timer.
    expect(headerIn(question, 'Session-Expires')).toBe('1800;refresher=uas');
    expect(bodyIn(question)).toContain("<requestsnapshot xmlns='urn:ietf:params:xml:ns:recording:1'>");
    // While it is out no other follows.
    await line.receive(within(recording, 'UPDATE', { cseq: 3, ...partial }));
    await nextTurn();
    expect(line.take()).toHaveLength(1);
    await line.receive(answerTo(question, '200 OK'));
    const eve = '<participant participant_id="eve"><nameID aor="sip:eve@h"/></participant>';
    const all = metadata('complete', `${eve}<stream stream_id="lost"><label>1</label></stream>`);
    await line.receive(within(recording, 'UPDATE', { cseq: 4, ...all }));
    await line.receive(within(recording, 'UPDATE', { cseq: 5, ...partial }));
    await nextTurn();
    expect(line.take().map((text) => text.split('\r\n')[0])).toEqual(['SIP/2.0 200 OK', 'SIP/2.0 200 OK']);
  });

  it('is not asked when it takes no UPDATE, and not for ever when it refuses', async () => {
    line = new SipLine();
    const body = '<recording><datamode>partial</datamode><participant participant_id="x"/></recording>';
    const deaf = inviteOf('cisco', (text) =>
      text.replace('Session-Expires', 'Allow: INVITE, ACK, BYE\nSession-Expires'),
    );
    const before = await record(line, deaf);
    await line.receive(within(before, 'UPDATE', { cseq: 2, type: 'application/rs-metadata+xml', body }));
    await nextTurn();
    expect(line.take()).toHaveLength(1);
    await ask(before, 'BYE', { cseq: 3 });
    const recording = await record(line, inviteOf('ribbon'));
    let asked = 0;
    for (let cseq = 2; cseq < 8; cseq++) {
      await line.receive(within(recording, 'UPDATE', { cseq, type: 'application/rs-metadata+xml', body }));
      await nextTurn();
      const question = line.take()[1];
      if (question === undefined) continue;
      asked++;
      await line.receive(answerTo(question, '501 Not Implemented'));
    }
    expect(asked).toBe(3);
    expect(live()?.state).toBe('live');
  });

  it('may leave the offer to us, and then says who is who with the ACK', async () => {
    line = new SipLine();
    const whole = inviteOf('ribbon');
    const late = inviteOf('cisco-nbr', (text) => text.replace(/Content-Type.*$/s, '\n'));
    const body = bodyIn(whole);
    await line.receive(late);
    const answer = line.take().at(-1) ?? '';
    expect(bodyIn(answer).match(/^a=recvonly\r$/gm)).toHaveLength(2);
    const recording = { answer, to: headerIn(answer, 'To'), callId: headerIn(answer, 'Call-ID') };
    await line.receive(within(recording, 'ACK', { type: 'multipart/mixed;boundary=foobar', body }));
    expect(started()).toMatchObject({ from: '4155550199', to: 'sales', tracks: ['inbound', 'outbound'] });
    expect(line.media.map(({ remotes }) => remotes[0]?.port)).toEqual([38606, 35744]);
  });

  it('goes on while one of its streams is silent, and ends when both are', async () => {
    line = new SipLine();
    await record(line, inviteOf('cisco'));
    const [first, second] = line.media;
    first?.timeOut();
    first?.listener?.receiveAudio(chunk(1, 0));
    second?.timeOut();
    expect(live()?.state).toBe('live');
    first?.timeOut();
    await settle();
    expect(live()).toMatchObject({ state: 'ended', endReason: 'timeout' });
    expect(line.lines()).toContainEqual(expect.stringMatching(/^BYE /));
  });

  it('ends when the only stream that is to send is silent, but not while one that was heard is on hold', async () => {
    line = new SipLine();
    const before = await record(line, inviteOf('cisco'));
    const [first, second] = line.media;
    second?.listener?.receiveAudio(chunk(1, 0));
    const body = offer(2, audio(10292, '1'), audio(10294, '2', 'inactive'));
    await ask(before, 'INVITE', { cseq: 2, body });
    first?.timeOut();
    await settle();
    expect(live()?.state).toBe('live');
    second?.timeOut();
    await settle();
    expect(live()?.state).toBe('ended');
    await record(
      line,
      inviteOf('ribbon', (text) => text.replace('a=sendonly', 'a=inactive')),
    );
    line.media[3]?.timeOut();
    await settle();
    expect(line.gateway.registry.liveCount).toBe(0);
  });

  it('ends with a BYE, and gives its ports back', async () => {
    line = new SipLine();
    const recording = await record(line, inviteOf('oracle'));
    expect(await ask(recording, 'BYE', { cseq: 2 })).toMatch(/^SIP\/2\.0 200/);
    expect(live()).toMatchObject({ state: 'ended', endReason: 'hangup' });
    expect(line.media.every(({ closed }) => closed)).toBe(true);
  });

  it('ends when its session is not refreshed', async () => {
    line = new SipLine();
    await record(line, inviteOf('cisco'));
    await line.gateway.clock.advance(1_800_000);
    await settle();
    expect(live()).toMatchObject({ state: 'ended', endReason: 'timeout' });
    expect(line.refreshes).toEqual(['peer expired']);
  });

  it('is one of two of one call that are sent to two servers: each is a call', async () => {
    line = new SipLine();
    await record(line, inviteOf('cisco'));
    await record(
      line,
      inviteOf('cisco', (text) => text.replace('cisco@', 'cisco-2@').replace('z9hG4bKcisco', 'z9hG4bKc2')),
    );
    expect(line.gateway.registry.list().map(({ id }) => id)).toEqual(['cisco-2@192.0.2.7', 'cisco@192.0.2.7']);
  });
});
