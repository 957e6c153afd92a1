import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  acceptAnswer,
  answerOffer,
  countVersion,
  type LocalMedia,
  makeOffer,
} from '../../../../src/carriers/sip/wire/offer-answer.ts';
import { RTP_FORMATS } from '../../../../src/carriers/sip/wire/rtp-codecs.ts';
import { type Direction, parseSdp } from '../../../../src/carriers/sip/wire/session-description.ts';
import { codeOf } from '../../../helpers/codes.ts';
import { LOCAL, offer } from './offers.ts';

function answer(text: string, local: LocalMedia = LOCAL) {
  return answerOffer(parseSdp(text), local);
}

describe('an offer is answered', () => {
  it('with comfort noise where it has that beside a codec of 8 kHz', () => {
    const narrow = answer(offer('m=audio 4000 RTP/AVP 0 13 101', 'a=rtpmap:101 telephone-event/8000'));
    expect([narrow.remote.comfortNoise, narrow.sdp]).toEqual([
      true,
      expect.stringMatching(/^m=audio \d+ RTP\/AVP 0 13 101\r$/m),
    ]);
    const wide = answer(offer('m=audio 4000 RTP/AVP 9 13'), { ...LOCAL, codecs: ['g722', 'mulaw'] });
    expect([wide.remote.comfortNoise, wide.sdp]).toEqual([false, expect.stringMatching(/^m=audio \d+ RTP\/AVP 9\r$/m)]);
  });

  it('with its first codec that we know, under its payload numbers', () => {
    const { sdp, remote } = answer(
      offer(
        'm=audio 4000 RTP/AVP 9 112 0 96',
        'a=rtpmap:9 G722/8000',
        'a=rtpmap:112 pcma/8000/1',
        'a=rtpmap:0 PCMU/8000',
        'a=rtpmap:96 telephone-event/8000',
        'a=fmtp:96 0-16',
      ),
    );
    expect(remote).toEqual({
      address: '192.0.2.1',
      port: 4000,
      rtcpPort: 4001,
      payloadType: 112,
      format: RTP_FORMATS.alaw,
      parameters: new Map(),
      ptimeMs: 20,
      events: { payloadType: 96, clockHz: 8000 },
      comfortNoise: false,
      sends: true,
      receives: true,
      srtp: null,
    });
    expect(sdp).toBe(
      [
        'v=0',
        'o=- 42 1 IN IP4 198.51.100.7',
        's=-',
        'c=IN IP4 198.51.100.7',
        't=0 0',
        'm=audio 16384 RTP/AVP 112 96',
        'a=rtpmap:112 PCMA/8000',
        'a=rtpmap:96 telephone-event/8000',
        'a=fmtp:96 0-15',
        'a=ptime:20',
        'a=sendrecv',
        '',
      ].join('\r\n'),
    );
  });

  it.each([
    ['0', 'mulaw'],
    ['8', 'alaw'],
  ])('by the static number %s without an rtpmap', (number, name) => {
    expect(answer(offer(`m=audio 4000 RTP/AVP ${number}`)).remote).toMatchObject({
      payloadType: Number(number),
      format: { name },
    });
  });

  it('with events only when they are offered at 8 kHz', () => {
    const { remote } = answer(offer('m=audio 4000 RTP/AVP 0 101', 'a=rtpmap:101 telephone-event/48000'));
    expect(remote.events).toBeNull();
  });

  it('with port 0 for every other stream, in their order', () => {
    const { sdp, remote } = answer(
      offer('m=video 5000 RTP/AVP 31 34', 'm=audio 4000 RTP/AVP 0', 'm=audio 4002 RTP/AVP 8', 'm=image 6000 udptl t38'),
    );
    expect(remote.port).toBe(4000);
    expect(sdp.match(/^m=.*/gm)).toEqual([
      'm=video 0 RTP/AVP 31 34',
      'm=audio 16384 RTP/AVP 0',
      'm=audio 0 RTP/AVP 8',
      'm=image 0 udptl t38',
    ]);
  });

  it.each([
    ['no ptime', [], 20],
    ['30', ['a=ptime:30'], 30],
    ['60', ['a=ptime:60'], 60],
    ['10', ['a=ptime:10'], 10],
    ['one that is no multiple of ten', ['a=ptime:25'], 20],
    ['one that is too long', ['a=ptime:200'], 20],
    ['a maximum below it', ['a=ptime:60', 'a=maxptime:40'], 40],
    ['a maximum below the usual', ['a=maxptime:15'], 10],
    ['a maximum that is none', ['a=maxptime:x'], 20],
    ['a maximum without end', ['a=ptime:30', 'a=maxptime:1e999'], 30],
  ])('with packets as long as it asks for: %s', (_, lines, ptimeMs) => {
    const { sdp, remote } = answer(offer('m=audio 4000 RTP/AVP 0', ...lines));
    expect(remote.ptimeMs).toBe(ptimeMs);
    expect(sdp).toContain(`a=ptime:${ptimeMs}\r\n`);
  });

  const directions: [Direction, Direction, { sends: boolean; receives: boolean }][] = [
    ['sendrecv', 'sendrecv', { sends: true, receives: true }],
    ['sendonly', 'recvonly', { sends: true, receives: false }],
    ['recvonly', 'sendonly', { sends: false, receives: true }],
    ['inactive', 'inactive', { sends: false, receives: false }],
  ];
  it.each(directions)('%s with %s', (offered, answered, remote) => {
    const result = answer(offer('m=audio 4000 RTP/AVP 0', `a=${offered}`));
    expect(result.sdp).toContain(`a=${answered}\r\n`);
    expect(result.remote).toMatchObject(remote);
  });

  it("with the session's direction where the stream has none", () => {
    expect(answer(offer('a=inactive', 'm=audio 4000 RTP/AVP 0')).remote).toMatchObject({
      sends: false,
      receives: false,
    });
    expect(answer(offer('a=inactive', 'm=audio 4000 RTP/AVP 0', 'a=sendrecv')).remote).toMatchObject({
      sends: true,
      receives: true,
    });
  });

  it('as held when its address is nobody’s', () => {
    const { sdp, remote } = answer(offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 0.0.0.0'));
    expect(sdp).toContain('a=recvonly\r\n');
    expect(remote).toMatchObject({ sends: true, receives: false });
  });

  it('never with more than we are willing to', () => {
    const { sdp, remote } = answer(offer('m=audio 4000 RTP/AVP 0'), { ...LOCAL, direction: 'recvonly' });
    expect(sdp).toContain('a=recvonly\r\n');
    expect(remote).toMatchObject({ sends: true, receives: false });
  });

  it.each([
    ['the port above it', [], 4001, false],
    ['the port that it names', ['a=rtcp:53020 IN IP4 192.0.2.9'], 53_020, false],
    ['its own port', ['a=rtcp-mux', 'a=rtcp:4000'], null, true],
  ])('with RTCP on %s', (_, lines, rtcpPort, multiplexed) => {
    const { sdp, remote } = answer(offer('m=audio 4000 RTP/AVP 0', ...lines));
    expect(remote.rtcpPort).toBe(rtcpPort);
    expect(sdp.includes('a=rtcp-mux')).toBe(multiplexed);
  });

  it("to the stream's address rather than the session's", () => {
    expect(answer(offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 203.0.113.5')).remote.address).toBe('203.0.113.5');
  });

  it('over IPv6', () => {
    const { sdp, remote } = answer(offer('m=audio 4000 RTP/AVP 0', 'c=IN IP6 2001:db8::5'), {
      ...LOCAL,
      address: '2001:db8::7',
    });
    expect(remote.address).toBe('2001:db8::5');
    expect(sdp).toContain('o=- 42 1 IN IP6 2001:db8::7\r\ns=-\r\nc=IN IP6 2001:db8::7\r\n');
  });
});

describe('an offer is refused', () => {
  it.each([
    ['other codecs', offer('m=audio 4000 RTP/AVP 18 9')],
    ['secured media', offer('m=audio 4000 RTP/SAVP 0')],
    ['secured media with feedback', offer('m=audio 4000 UDP/TLS/RTP/SAVPF 0')],
    ['video alone', offer('m=video 4000 RTP/AVP 0')],
    ['a stream that is switched off', offer('m=audio 0 RTP/AVP 0')],
    ['no stream', offer()],
    ['a static number with another meaning', offer('m=audio 4000 RTP/AVP 0', 'a=rtpmap:0 G729/8000')],
    ['the codec at another rate', offer('m=audio 4000 RTP/AVP 97', 'a=rtpmap:97 PCMU/16000')],
    ['two channels', offer('m=audio 4000 RTP/AVP 97', 'a=rtpmap:97 PCMU/8000/2')],
  ])('%s: codec_unsupported', (_, text) => {
    expect(codeOf(() => answer(text))).toBe('codec_unsupported');
  });

  it('when the one codec that it has is not wanted', () => {
    expect(codeOf(() => answer(offer('m=audio 4000 RTP/AVP 8'), { ...LOCAL, codecs: ['mulaw'] }))).toBe(
      'codec_unsupported',
    );
  });

  it.each([
    ['nothing', ''],
    ['another protocol', 'INVITE sip:a@b SIP/2.0'],
    ['no origin', 'v=0\r\ns=-\r\n'],
    ['an origin without a version', 'v=0\r\no=- 1\r\n'],
    ['no address', 'v=0\r\no=- 1 1 IN IP4 a\r\nm=audio 4000 RTP/AVP 0\r\n'],
    ['a host name', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 evil.example')],
    ['a group of machines', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 224.2.1.1/127')],
    ['a group of machines over IPv6', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP6 ff02::1')],
    ['an address of IPv6 called IPv4', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 ::1')],
    ['an address with five bytes', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 1.2.3.4.5')],
    ['a port that is none', offer('m=audio 70000 RTP/AVP 0')],
    ['an m= line without formats', offer('m=audio 4000 RTP/AVP')],
    ['a line without a type', offer('m=audio 4000 RTP/AVP 0', 'sendrecv')],
  ])('%s: message_malformed, without repeating it', (_, text) => {
    expect(codeOf(() => answer(text))).toBe('message_malformed');
    expect(() => answer(text)).not.toThrow(/evil/);
  });

  it.each([
    ['characters', offer(`m=audio 4000 RTP/AVP 0`, `a=x:${'y'.repeat(20_000)}`)],
    ['lines', offer('m=audio 4000 RTP/AVP 0', ...Array<string>(600).fill('a=x'))],
    ['streams', offer(...Array<string>(17).fill('m=audio 4000 RTP/AVP 0'))],
    ['formats', offer(`m=audio 4000 RTP/AVP ${Array(65).fill('0').join(' ')}`)],
  ])('too many %s: message_too_large', (_, text) => {
    expect(codeOf(() => answer(text))).toBe('message_too_large');
  });
});

describe('an offer of ours', () => {
  it('has our codecs in our order, and keys as events', () => {
    expect(makeOffer({ ...LOCAL, codecs: ['alaw', 'mulaw'] }).split('\r\n')).toEqual(
      expect.arrayContaining([
        'm=audio 16384 RTP/AVP 8 0 101',
        'a=rtpmap:8 PCMA/8000',
        'a=rtpmap:0 PCMU/8000',
        'a=rtpmap:101 telephone-event/8000',
        'a=ptime:20',
        'a=sendrecv',
      ]),
    );
  });

  it('is agreed by what the answer took of it', () => {
    const text = offer('m=audio 4000 RTP/AVP 8', 'a=ptime:40', 'a=sendonly');
    expect(acceptAnswer(parseSdp(text), LOCAL)).toMatchObject({
      payloadType: 8,
      ptimeMs: 40,
      events: null,
      sends: true,
      receives: false,
    });
  });

  it('within a call has all streams that the call had, in their places', () => {
    const others = ['m=audio 4002 RTP/AVP 18', 'm=video 5000 RTP/AVP 31 34', 'm=image 6000 udptl t38'] as const;
    const [first, ...more] = others;
    const before = answer(offer(first, 'm=audio 4000 RTP/AVP 0', ...more)).sdp;
    const again = makeOffer(LOCAL, before);
    expect(again.match(/^m=.*$/gm)).toEqual([
      'm=audio 0 RTP/AVP 18',
      'm=audio 16384 RTP/AVP 0 8 101',
      'm=video 0 RTP/AVP 31 34',
      'm=image 0 udptl t38',
    ]);
    expect(makeOffer(LOCAL, again)).toBe(again);
    expect(makeOffer(LOCAL, makeOffer(LOCAL))).toBe(makeOffer(LOCAL));
  });

  it('is refused by port 0', () => {
    expect(codeOf(() => acceptAnswer(parseSdp(offer('m=audio 0 RTP/AVP 0')), LOCAL))).toBe('codec_unsupported');
  });

  it('agrees with itself whatever it is answered', () => {
    fc.assert(
      fc.property(
        fc.record({
          codecs: fc.uniqueArray(fc.constantFrom('mulaw' as const, 'alaw' as const), { minLength: 1 }),
          direction: fc.constantFrom<Direction>('sendrecv', 'sendonly', 'recvonly', 'inactive'),
          port: fc.integer({ min: 1, max: 65_534 }),
          theirs: fc.constantFrom<Direction>('sendrecv', 'sendonly', 'recvonly', 'inactive'),
        }),
        ({ codecs, direction, port, theirs }) => {
          const ours = { ...LOCAL, codecs, direction, port };
          const answered = answerOffer(parseSdp(makeOffer(ours)), { ...LOCAL, direction: theirs, port: 4000 });
          const agreed = acceptAnswer(parseSdp(answered.sdp), ours);
          expect(answered.remote).toMatchObject({ port, format: agreed.format, payloadType: agreed.payloadType });
          expect([answered.remote.sends, answered.remote.receives]).toEqual([agreed.receives, agreed.sends]);
        },
      ),
    );
  });
});

describe('the version of a description', () => {
  const first = makeOffer({ ...LOCAL, version: 5 });

  it('is what it says when there is none before it', () => {
    expect(countVersion(first, null)).toBe(first);
  });

  it('stays while nothing changes, whatever was counted meanwhile', () => {
    expect(countVersion(makeOffer({ ...LOCAL, version: 9 }), first)).toBe(first);
  });

  it('grows by one when something does', () => {
    expect(countVersion(makeOffer({ ...LOCAL, direction: 'sendonly' }), first)).toContain('o=- 42 6 IN');
  });
});
