import { describe, expect, it } from 'vitest';
import { acceptAnswer, answerOffer, makeOffer } from '../../../../src/carriers/sip/wire/offer-answer.ts';
import { RTP_FORMATS, type RtpCodecName } from '../../../../src/carriers/sip/wire/rtp-codecs.ts';
import { parseSdp } from '../../../../src/carriers/sip/wire/session-description.ts';
import { codeOf } from '../../../helpers/codes.ts';
import { LOCAL, offer } from './offers.ts';

const ALL: readonly RtpCodecName[] = ['opus', 'g722', 'mulaw', 'alaw'];
const EVERYTHING = { ...LOCAL, codecs: ALL };
const OPUS = ['a=rtpmap:96 opus/48000/2', 'a=fmtp:96 useinbandfec=1; maxaveragebitrate=24000;stereo=0;USEDTX'];
const PARAMETERS = 'maxplaybackrate=16000;sprop-maxcapturerate=16000;minptime=10;useinbandfec=1';

function answer(text: string, codecs = ALL) {
  return answerOffer(parseSdp(text), { ...LOCAL, codecs });
}

function streamOf(sdp: string): string[] {
  const lines = sdp.trimEnd().split('\r\n');
  return lines.slice(lines.findIndex((line) => line.startsWith('m=')));
}

describe('of what a stream lists', () => {
  it.each<[string, string[], RtpCodecName]>([
    ['wideband sound', ['m=audio 4000 RTP/AVP 0 8 9'], 'g722'],
    ['the first of two wideband codecs', ['m=audio 4000 RTP/AVP 0 96 9', ...OPUS], 'opus'],
    ['the first of two wideband codecs, otherwise', ['m=audio 4000 RTP/AVP 9 0 96', ...OPUS], 'g722'],
    ['the first narrow one where there is no other', ['m=audio 4000 RTP/AVP 18 8 0'], 'alaw'],
    ['G.722 under a number of its own', ['m=audio 4000 RTP/AVP 0 120', 'a=rtpmap:120 g722/8000/1'], 'g722'],
    ['Opus that says one channel', ['m=audio 4000 RTP/AVP 0 96', 'a=rtpmap:96 OPUS/48000'], 'opus'],
    ['no G.722 at the rate of its sound', ['m=audio 4000 RTP/AVP 120 0', 'a=rtpmap:120 G722/16000'], 'mulaw'],
    ['no Opus at another clock', ['m=audio 4000 RTP/AVP 96 0', 'a=rtpmap:96 opus/16000/2'], 'mulaw'],
    ['no Opus without a map', ['m=audio 4000 RTP/AVP 111 0'], 'mulaw'],
    ['no G.711 of two channels', ['m=audio 4000 RTP/AVP 97 0', 'a=rtpmap:97 PCMA/8000/2'], 'mulaw'],
  ])('%s is taken', (_, lines, name) => {
    expect(answer(offer(...lines)).remote.format).toBe(RTP_FORMATS[name]);
  });

  it('only what is allowed is taken', () => {
    expect(answer(offer('m=audio 4000 RTP/AVP 9 0'), ['mulaw', 'alaw']).remote.format.name).toBe('mulaw');
    expect(codeOf(() => answer(offer('m=audio 4000 RTP/AVP 0 8'), ['opus', 'g722']))).toBe('codec_unsupported');
  });

  it('the first is taken of an answer, because that is what will come', () => {
    const text = offer('m=audio 4000 RTP/AVP 0 9');
    expect(acceptAnswer(parseSdp(text), EVERYTHING).format.name).toBe('mulaw');
  });
});

describe('G.722', () => {
  it('is said to have a clock of 8 kHz, and has sound of 16 kHz', () => {
    const { sdp, remote } = answer(offer('m=audio 4000 RTP/AVP 9 101', 'a=rtpmap:101 telephone-event/8000'));
    expect(streamOf(sdp).slice(0, 4)).toEqual([
      'm=audio 16384 RTP/AVP 9 101',
      'a=rtpmap:9 G722/8000',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
    ]);
    expect(remote).toMatchObject({ format: { clockHz: 8000, codec: { name: 'pcm16', rateHz: 16_000 } } });
  });
});

describe('Opus', () => {
  it('is answered under the number of the offer, with what we can receive', () => {
    const { sdp, remote } = answer(
      offer('m=audio 4000 RTP/AVP 96 0 101 97', ...OPUS, 'a=rtpmap:97 telephone-event/48000'),
    );
    expect(streamOf(sdp)).toEqual([
      'm=audio 16384 RTP/AVP 96 97',
      'a=rtpmap:96 opus/48000/2',
      `a=fmtp:96 ${PARAMETERS}`,
      'a=rtpmap:97 telephone-event/48000',
      'a=fmtp:97 0-15',
      'a=ptime:20',
      'a=sendrecv',
    ]);
    expect(remote.events).toEqual({ payloadType: 97, clockHz: 48_000 });
  });

  it('has keys of 8 kHz where the phone has no others', () => {
    const { remote } = answer(offer('m=audio 4000 RTP/AVP 96 101', ...OPUS, 'a=rtpmap:101 telephone-event/8000'));
    expect(remote.events).toEqual({ payloadType: 101, clockHz: 8000 });
  });

  it('has the wishes of the phone', () => {
    const { remote } = answer(offer('m=audio 4000 RTP/AVP 96', ...OPUS));
    expect(Object.fromEntries(remote.parameters)).toEqual({
      useinbandfec: '1',
      maxaveragebitrate: '24000',
      stereo: '0',
      usedtx: '',
    });
  });

  it.each([
    [10, 10],
    [30, 20],
    [40, 40],
    [50, 20],
    [60, 60],
    [120, 20],
  ])('has packets of a length that it knows: %d ms asked for, %d ms sent', (asked, ptimeMs) => {
    expect(answer(offer('m=audio 4000 RTP/AVP 96', ...OPUS, `a=ptime:${asked}`)).remote.ptimeMs).toBe(ptimeMs);
  });

  it('has packets no longer than the phone can take', () => {
    const text = offer('m=audio 4000 RTP/AVP 96', ...OPUS, 'a=ptime:60', 'a=maxptime:50');
    expect(answer(text).remote.ptimeMs).toBe(40);
  });
});

describe('an offer of everything', () => {
  it('has the codecs in their order, and keys for each clock', () => {
    expect(streamOf(makeOffer(EVERYTHING))).toEqual([
      'm=audio 16384 RTP/AVP 111 9 0 8 101 110',
      'a=rtpmap:111 opus/48000/2',
      `a=fmtp:111 ${PARAMETERS}`,
      'a=rtpmap:9 G722/8000',
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:8 PCMA/8000',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
      'a=rtpmap:110 telephone-event/48000',
      'a=fmtp:110 0-15',
      'a=ptime:20',
      'a=sendrecv',
    ]);
  });

  it.each(ALL)('is agreed with a phone that has %s alone', (name) => {
    const { sdp, remote } = answerOffer(parseSdp(makeOffer(EVERYTHING)), { ...LOCAL, codecs: [name], port: 4000 });
    const agreed = acceptAnswer(parseSdp(sdp), EVERYTHING);
    expect([agreed.format.name, remote.format.name]).toEqual([name, name]);
    expect(agreed.events).toEqual(remote.events);
  });
});
