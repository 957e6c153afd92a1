/** Keys of telephones that send them as tones, because none were agreed as events. */
import { afterEach, describe, expect, it } from 'vitest';
import { digitTone } from '../../../../src/audio/dtmf.ts';
import { decodeG711, encodeG711 } from '../../../../src/audio/g711.ts';
import { joinSamples } from '../../../../src/audio/mix.ts';
import { RtpReceiver } from '../../../../src/carriers/sip/rtp/receiver.ts';
import type { RemoteMedia } from '../../../../src/carriers/sip/wire/offer-answer.ts';
import { MULAW_8K } from '../../../../src/foundation/units.ts';
import { SipLine } from '../line.ts';
import { ring } from '../timed-call.ts';
import { packetOf, remoteMedia } from './media.ts';

const NO_EVENTS = { events: null } as const;

/** What a telephone's packets of these keys become. */
function receive(
  keys: string,
  changes: Partial<RemoteMedia>,
  { hears = true, pressing = false } = {},
): { tones: string; loudMs: number } {
  const tones: string[] = [];
  let loudMs = 0;
  const listener = {
    receiveAudio: ({ bytes }: { readonly bytes: Uint8Array }) => {
      if (decodeG711(bytes, MULAW_8K).some((sample) => Math.abs(sample) > 500)) loudMs += 20;
    },
    receiveDigit: () => undefined,
    ...(hears && { receiveTone: (digit: string) => void tones.push(digit) }),
  };
  const receiver = new RtpReceiver({
    codec: MULAW_8K,
    remote: remoteMedia(changes),
    listener,
    counter: { count: () => undefined },
  });
  if (pressing) receiver.passOverTones();
  const sound = encodeG711(joinSamples([...keys].map((key) => digitTone(key, 8000))), MULAW_8K);
  for (let i = 0; i * 160 < sound.length; i++)
    receiver.receive(packetOf(i, { payload: sound.subarray(i * 160, (i + 1) * 160) }), i * 20);
  return { tones: tones.join(''), loudMs };
}

describe('tones of keys', () => {
  it('are keys where no events were agreed, and silent from when they are known', () => {
    expect(receive('4711#', NO_EVENTS)).toEqual({ tones: '4711#', loudMs: 5 * 20 });
  });

  it('are sound where keys come as events, and where nobody asks for them', () => {
    expect(receive('12', {})).toEqual({ tones: '', loudMs: 200 });
    expect(receive('12', NO_EVENTS, { hears: false })).toEqual({ tones: '', loudMs: 200 });
  });

  it('are no keys while we press some ourselves, which may come back as an echo', () => {
    expect(receive('12345', NO_EVENTS, { pressing: true }).tones).toBe('5');
  });
});

describe('a call', () => {
  let line: SipLine;
  afterEach(() => line.close());
  const keys = () => line.gateway.events.flatMap((event) => (event.type === 'dtmf' ? [event.digit] : [])).join('');

  it('gets the keys of tones, and passes them over from when keys come as messages', async () => {
    line = new SipLine();
    await ring(line, []);
    const phone = line.media[0]?.listener;
    phone?.receiveTone?.('1');
    phone?.receiveTone?.('2');
    phone?.receiveDigit('2');
    phone?.receiveTone?.('2');
    phone?.receiveDigit('2');
    phone?.receiveTone?.('3');
    phone?.receiveDigit('3');
    expect(keys()).toBe('1223');
  });
});
