/** What is heard of a call of ours before it is answered, and PRACK. */
import { afterEach, describe, expect, it } from 'vitest';
import { encodeG711 } from '../../../src/audio/g711.ts';
import { EARLY_KEPT_MS, EarlyMedia } from '../../../src/carriers/sip/early-media.ts';
import type { AudioChunk } from '../../../src/carriers/sip/rtp/receiver.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { type Codec, LINEAR_16K, MULAW_8K } from '../../../src/foundation/units.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, headerIn, OFFER, request, SipLine } from './line.ts';
import { CONTACT, dial as dialOn, endReason, ID } from './timed-call.ts';

const FRAME_MS = 20;

/** A leg that remembers. */
class Leg {
  readonly heard: AudioChunk[] = [];
  readonly pressed: string[] = [];
  readonly failed: TrunklineError[] = [];

  receiveAudio(chunk: AudioChunk): void {
    this.heard.push(chunk);
  }

  receiveDigit(digit: string): void {
    this.pressed.push(digit);
  }

  fail(error: TrunklineError): void {
    this.failed.push(error);
  }
}

/** Sound as packets; `wave` gives a sample at a time in seconds, between -1 and 1. */
function packets(codec: Codec, durationMs: number, wave: (timeS: number) => number, from = 0): AudioChunk[] {
  const count = (codec.rateHz * FRAME_MS) / 1000;
  return Array.from({ length: durationMs / FRAME_MS }, (_, index) => {
    const atMs = (from + index) * FRAME_MS;
    const samples = Int16Array.from({ length: count }, (__, at) => 12_000 * wave(atMs / 1000 + at / codec.rateHz));
    return { bytes: encodeG711(samples, codec), atMs, sequence: from + index + 1 };
  });
}

const sines =
  (...parts: readonly (readonly [hz: number, level: number])[]) =>
  (timeS: number) =>
    parts.reduce((sum, [hz, level]) => sum + level * Math.sin(2 * Math.PI * hz * timeS), 0);
const silence = () => 0;
/** Harmonics of a voice with the weights of an open vowel. */
const voice = sines([210, 0.3], [420, 0.35], [630, 0.3], [840, 0.2], [1050, 0.1]);

function hear(codec: Codec, chunks: readonly AudioChunk[]): Leg {
  const leg = new Leg();
  const early = new EarlyMedia(leg);
  for (const chunk of chunks) early.receiveAudio(chunk);
  expect(leg.heard).toEqual([]);
  early.begin(codec);
  return leg;
}

describe('what is heard before the answer', () => {
  it('goes to the call when it begins, whose sound then begins at 0', () => {
    const all = packets(MULAW_8K, 1000, voice, 100);
    const leg = hear(MULAW_8K, all);
    expect(leg.heard.map(({ bytes }) => bytes)).toEqual(all.map(({ bytes }) => bytes));
    expect(leg.heard.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
    expect(leg.heard.at(-1)?.atMs).toBe(980);
  });

  it('is kept for five seconds', () => {
    const leg = hear(MULAW_8K, packets(MULAW_8K, 20_000, voice));
    expect(leg.heard.length * FRAME_MS).toBe(EARLY_KEPT_MS + FRAME_MS);
  });

  it('is kept in a limited number of packets, whatever their times', () => {
    const chunks = Array.from({ length: 5000 }, (_, index) => ({ bytes: new Uint8Array(1), atMs: 0, sequence: index }));
    expect(hear(MULAW_8K, chunks).heard.length).toBe(1000);
  });

  it.each([
    ['North America', sines([440, 0.4], [480, 0.4])],
    ['Europe', sines([425, 0.5])],
    ['Britain', sines([400, 0.4], [450, 0.4])],
    ['Japan', (timeS: number) => 0.5 * Math.sin(800 * Math.PI * timeS) * (1 + 0.7 * Math.sin(32 * Math.PI * timeS))],
  ])('is nothing up to the last ringback of %s', (_, ringback) => {
    for (const codec of [MULAW_8K, LINEAR_16K]) {
      const rings = [...packets(codec, 1000, ringback), ...packets(codec, 1000, silence, 50)];
      const again = packets(codec, 1000, ringback, 100);
      const word = packets(codec, 600, voice, 150);
      const leg = hear(codec, [...rings, ...again, ...word]);
      expect(leg.heard.map(({ bytes }) => bytes)).toEqual(word.map(({ bytes }) => bytes));
      expect(leg.heard[0]).toMatchObject({ sequence: 1, atMs: 0 });
    }
  });

  it('goes on without a break, and packets from before its begin are left out', () => {
    const leg = new Leg();
    const early = new EarlyMedia(leg);
    const all = packets(MULAW_8K, 200, voice, 7);
    for (const chunk of all.slice(1, 5)) early.receiveAudio(chunk);
    early.begin(MULAW_8K);
    for (const chunk of [...all.slice(5), ...all.slice(0, 1)]) early.receiveAudio(chunk);
    expect(leg.heard.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('is neither keys nor the end of the call, nor what somebody else said', () => {
    const leg = new Leg();
    const early = new EarlyMedia(leg);
    const silent = new TrunklineError('media_timeout', 'no RTP');
    early.receiveDigit('1');
    early.fail(silent);
    for (const chunk of packets(MULAW_8K, 100, voice)) early.receiveAudio(chunk);
    early.forget();
    early.begin(MULAW_8K);
    expect([leg.heard, leg.pressed, leg.failed]).toEqual([[], [], []]);
    early.receiveDigit('2');
    early.fail(silent);
    expect([leg.pressed, leg.failed]).toEqual([['2'], [silent]]);
  });
});

describe('a call of ours before its answer', () => {
  let line: SipLine;
  afterEach(() => line.close());

  async function dial(): Promise<string> {
    line = new SipLine();
    return dialOn(line);
  }

  const reliable = (number: number) => ['Require: 100rel', `RSeq: ${number}`, CONTACT];
  const state = () => line.gateway.registry.get(ID)?.state;

  it('acknowledges what is to be acknowledged, once and in order', async () => {
    const invite = await dial();
    expect(invite).toMatch(/^Supported: 100rel\r$/m);
    const ringing = answer(invite, '180 Ringing', reliable(17));
    await line.receive(ringing);
    const [prack = ''] = line.take();
    expect(prack).toMatch(/^PRACK sip:far@192\.0\.2\.7:5070 /);
    expect(headerIn(prack, 'RAck')).toBe(`17 ${headerIn(invite, 'CSeq')}`);
    expect(headerIn(prack, 'Call-ID')).toBe(ID);
    await line.receive(answer(prack, '200 OK'));
    await line.receive(ringing);
    await line.receive(answer(invite, '183 Session Progress', reliable(19)));
    expect(line.take()).toEqual([]);
    await line.receive(answer(invite, '183 Session Progress', reliable(18), OFFER));
    expect(headerIn(line.take()[0] ?? '', 'RAck')).toBe('18 1 INVITE');
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(line.lines().map((first) => first.split(' ')[0])).toEqual(['ACK']);
    expect(state()).toBe('live');
  });

  it.each([
    ['is not reliable', ['RSeq: 1', CONTACT]],
    ['has no number', ['Require: 100rel', CONTACT]],
    ['has a number that is none', ['Require: 100rel', 'RSeq: 0x1', CONTACT]],
  ])('does not acknowledge what %s', async (_, headers) => {
    const invite = await dial();
    await line.receive(answer(invite, '180 Ringing', headers));
    expect(line.take()).toEqual([]);
  });

  it('sends its PRACK again until there is an answer', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '180 Ringing', reliable(1)));
    const [prack = ''] = line.take();
    await line.gateway.clock.run(1600, 100);
    expect(line.take()).toEqual([prack, prack]);
  });

  it('has media from the 183 on, and is no call before the answer', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '183 Session Progress', [CONTACT], OFFER));
    const [media] = line.media;
    expect(media?.remotes).toMatchObject([{ port: 4000 }]);
    expect(state()).toBe('dialing');
    for (const chunk of packets(MULAW_8K, 200, voice)) media?.listener?.receiveAudio(chunk);
    media?.timeOut();
    expect(state()).toBe('dialing');
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(state()).toBe('live');
    line.take();
    media?.timeOut();
    await settle();
    expect(line.lines()).toEqual([expect.stringMatching(/^BYE /)]);
  });

  it('passes over early media that it cannot use', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '183 Session Progress', [CONTACT], OFFER.replace('8 0 101', '18')));
    expect(line.media[0]?.remotes).toEqual([]);
    await line.receive(answer(invite, '200 OK', [CONTACT], OFFER));
    expect(state()).toBe('live');
  });

  it('hears only the first of several telephones, until one answers', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '183 Session Progress', [CONTACT], OFFER));
    const other = OFFER.replace('4000', '4100');
    await line.receive(answer(invite, '183 Session Progress', [CONTACT], other).replace('tag=far', 'tag=other'));
    expect(line.media[0]?.remotes.map(({ port }) => port)).toEqual([4000]);
    await line.receive(answer(invite, '200 OK', [CONTACT], other).replace('tag=far', 'tag=other'));
    expect(line.media[0]?.remotes.at(-1)?.port).toBe(4100);
  });

  it('is refused after early media as before them', async () => {
    const invite = await dial();
    await line.receive(answer(invite, '183 Session Progress', [CONTACT], OFFER));
    await line.receive(answer(invite, '486 Busy Here'));
    expect(endReason(line)).toBe('busy');
    expect(line.media[0]?.closed).toBe(true);
  });
});

it('takes an INVITE that requires 100rel, and answers it at once', async () => {
  const line = new SipLine();
  await line.receive(request('INVITE', { body: OFFER, headers: ['Require: 100rel'] }));
  expect(line.lines()).toEqual(['SIP/2.0 100 Trying', 'SIP/2.0 200 OK']);
  await line.close();
});
