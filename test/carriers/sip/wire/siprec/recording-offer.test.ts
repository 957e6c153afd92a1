import { describe, expect, it } from 'vitest';
import {
  acceptRecording,
  answerRecording,
  offerRecording,
  parseRecordingSdp,
} from '../../../../../src/carriers/sip/wire/siprec/recording-offer.ts';
import { isRecording, wantsSwap } from '../../../../../src/carriers/sip/wire/siprec/recording-request.ts';
import { LOCAL, offer } from '../offers.ts';

const PLACES = [16_384, 16_386].map((port) => ({ ...LOCAL, port, direction: 'recvonly' as const }));
const audio = (port: number, more: string[] = ['a=sendonly'], formats = '0 8') => [
  `m=audio ${port} RTP/AVP ${formats}`,
  ...more,
];
const parse = (...lines: string[]) => parseRecordingSdp(offer(...lines), '192.0.2.9');
const answer = (bound: (number | null)[], ...lines: string[]) => {
  const { sdp, streams } = answerRecording(parse(...lines), { places: PLACES, bound, codec: null });
  const ports = [...sdp.matchAll(/^m=\S+ (\d+) /gm)].map(([, port]) => Number(port));
  return { sdp, ports, places: streams.map((stream) => stream?.place ?? null), streams };
};

describe('the answer to a recording', () => {
  it('has a port of its own for each of two streams, and refuses others', () => {
    const { ports, sdp, streams } = answer(
      [],
      'm=video 5000 RTP/AVP 31',
      ...audio(4000, ['a=sendonly', 'a=label:1']),
      ...audio(4002, ['a=inactive', 'a=label:no token']),
      ...audio(4004),
    );
    expect(ports).toEqual([0, 16_384, 16_386, 0]);
    expect(sdp.match(/^a=(?:recvonly|inactive|label:.*)\r$/gm)).toEqual([
      'a=recvonly\r',
      'a=label:1\r',
      'a=inactive\r',
    ]);
    expect(streams.map((stream) => stream && [stream.label, stream.remote.sends])).toEqual([
      null,
      ['1', true],
      [null, false],
      null,
    ]);
  });

  it('keeps the places of streams, and gives away those that became free', () => {
    expect(answer([0, 1], ...audio(4000), ...audio(4002)).places).toEqual([0, 1]);
    // A transfer: the first stream has ended, a third one takes its place.
    expect(answer([0, 1], ...audio(0), ...audio(4002), ...audio(4004)).places).toEqual([null, 1, 0]);
    expect(answer([null, 1, 0], ...audio(0), ...audio(4002), ...audio(4004), ...audio(4006)).places).toEqual([
      null,
      1,
      0,
      null,
    ]);
  });

  it('leaves the place of a stream that cannot be taken to the next one', () => {
    expect(answer([], ...audio(4000, ['a=sendonly'], '18'), ...audio(4002)).ports).toEqual([0, 16_384]);
    expect(answer([], ...audio(4000, ['a=sendonly'], '18')).places).toEqual([null]);
  });

  it('chooses the codec that the first stream has, where the others have it', () => {
    const two = answer([], ...audio(4000, [], '8'), ...audio(4002, [], '0 8'), ...audio(4004, []));
    expect(two.streams.map((stream) => stream?.remote.format.name)).toEqual(['alaw', 'alaw', undefined]);
    const apart = answer([], ...audio(4000, [], '8'), ...audio(4002, [], '0'));
    expect(apart.streams.map((stream) => stream?.remote.format.name)).toEqual(['alaw', 'mulaw']);
  });
});

describe('the description of a recording', () => {
  const streams = 'm=audio 4000 RTP/AVP 0\nm=audio 4002 RTP/AVP 0\nc=IN IP4 192.0.2.8';

  it.each([
    ['of no address', `v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\n${streams}`],
    ['of nobody', `v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nc=IN IP4 0.0.0.0\n${streams}`],
  ])('%s has the address that it came from', (_, text) => {
    const addresses = (peer: string) => parseRecordingSdp(text, peer).media.map(({ address }) => address);
    expect(addresses('192.0.2.9')).toEqual(['192.0.2.9', '192.0.2.8']);
    expect(addresses('2001:db8::9')[0]).toBe('2001:db8::9');
  });
});

it('an offer of ours has two streams, and its answer is taken stream by stream', () => {
  const sdp = offerRecording(PLACES);
  expect([...sdp.matchAll(/^m=audio (\d+)/gm)].map(([, port]) => port)).toEqual(['16384', '16386']);
  expect(sdp.match(/^a=recvonly\r$/gm)).toHaveLength(2);
  const accept = (...lines: string[]) => acceptRecording(parse(...lines), { places: PLACES, bound: [0, 1] });
  expect(accept(...audio(4000), ...audio(4002, ['a=sendonly', 'a=label:b']))).toMatchObject([
    { place: 0, remote: { port: 4000, sends: true } },
    { place: 1, label: 'b' },
  ]);
  expect(accept(...audio(0), ...audio(4002)).map((stream) => stream?.place)).toEqual([undefined, 1]);
  expect(accept(...audio(4000, [], '18'))).toEqual([null]);
});

describe('an INVITE', () => {
  const message = (headers: Record<string, string>) => ({
    getHeader: (name: string) => headers[name],
    getHeaders: (name: string) => (headers[name] === undefined ? [] : [headers[name]]),
  });

  it.each([
    [{ require: 'timer, SIPREC' }, null, [], true],
    [{ contact: '<sip:a@h>;+sip.src' }, null, [], true],
    [{ contact: '<sip:a@h>;+sip.src-x;+sip.srcs' }, null, [], false],
    [{}, '<x/>', [], true],
    [{}, null, [...audio(4000), ...audio(4002, ['a=inactive'])], true],
    [{}, null, audio(4000), false],
    [{}, null, [...audio(4000), ...audio(4002, [])], false],
    [{}, null, [...audio(4000), ...audio(0)], false],
    [{ supported: 'siprec' }, null, [], false],
  ] as const)('%o with metadata %s is a recording: %o, %s', (headers, metadata, lines, expected) => {
    const own: Record<string, string> = { ...headers };
    expect(isRecording(message(own), metadata, parse(...lines))).toBe(expected);
  });

  it.each([
    ['sip:rec@h', {}, false],
    ['sip:rec;swap@h', {}, true],
    ['sip:rec@h:5060;transport=tcp;swap=on', {}, true],
    ['sip:rec;swapped@h', {}, false],
    ['sip:swap@h', {}, false],
    ['sip:rec;swap@h', { swap: 'off' }, false],
    [null, { swap: 'On' }, true],
  ] as const)('to %s with %o exchanges the tracks: %s', (uri, parameters, expected) => {
    expect(wantsSwap(uri, parameters)).toBe(expected);
  });
});
