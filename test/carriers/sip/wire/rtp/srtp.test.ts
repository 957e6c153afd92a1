/** SRTP against the vectors of RFC 3711, appendix B, and against packets that were changed, repeated or lost. */
import { describe, expect, it } from 'vitest';
import { writeRtp } from '../../../../../src/carriers/sip/wire/rtp/packet.ts';
import { SrtpReceiver, SrtpSender } from '../../../../../src/carriers/sip/wire/rtp/srtp.ts';
import { deriveSrtpKey, SessionKeys, type SrtpKey } from '../../../../../src/carriers/sip/wire/rtp/srtp-keys.ts';

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');
const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString('hex'));

/** Master key and salt of appendix B.3. */
const MASTER: SrtpKey = {
  suite: 'AES_CM_128_HMAC_SHA1_80',
  key: hex('E1F97A0D3E018BE0D64FA32C06DE4139'),
  salt: hex('0EC675AD498AFEEBB6960B3AABE6'),
  identifier: new Uint8Array(0),
};
const SHORT: SrtpKey = { ...MASTER, suite: 'AES_CM_128_HMAC_SHA1_32' };
const NAMED: SrtpKey = { ...MASTER, identifier: hex('00000001') };

function packet(sequence: number, changes: { readonly ssrc?: number; readonly payload?: Uint8Array } = {}): Uint8Array {
  const payload = Uint8Array.of(1, 2, 3, sequence & 0xff);
  return writeRtp({ marker: false, payloadType: 0, sequence, timestamp: sequence * 160, ssrc: 7, payload, ...changes });
}

describe('the key derivation', () => {
  it('gives the keys of appendix B.3', () => {
    expect(text(deriveSrtpKey(MASTER, 0, 16))).toBe('c61e7a93744f39ee10734afe3ff7a087');
    expect(text(deriveSrtpKey(MASTER, 2, 14))).toBe('30cbbc08863d8c85d49db34a9ae1');
    const authentication = hex(`
      CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE E049646C43D9327AD175578EF7227098
      6371C10C9A369AC2F94A8C5FBCDDDC25 6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2`);
    expect(text(deriveSrtpKey(MASTER, 1, 94))).toBe(text(authentication));
  });
});

describe('a packet', () => {
  it('is encrypted and signed as libsrtp does it, in both kinds', () => {
    const sender = new SrtpSender(MASTER);
    const rtp = hex('800f1234decafbadcafebabe abababababababababababababababab');
    const sealed = '800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb';
    expect(text(sender.protect(rtp))).toBe(sealed);
    expect(text(new SrtpReceiver(MASTER).open(hex(sealed)))).toBe(text(rtp));
    const rtcp = hex('81c8000bcafebabe abababababababababababababababab');
    sender.protectControl(rtcp);
    const sealedControl = '81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798';
    expect(text(sender.protectControl(rtcp))).toBe(sealedControl);
    expect(text(new SrtpReceiver(MASTER).openControl(hex(sealedControl)))).toBe(text(rtcp));
  });

  it('is opened by what encrypted it, however long it is', () => {
    const long = new Uint8Array(0xff00);
    const keys = new SessionKeys(MASTER, false);
    keys.crypt(long, 5, 9);
    const [start, end] = [long.slice(0, 32), long.slice(-16)];
    const again = new Uint8Array(0xff00);
    new SessionKeys(MASTER, false).crypt(again, 5, 9);
    expect([text(again.slice(0, 32)), text(again.slice(-16))]).toEqual([text(start), text(end)]);
    keys.crypt(long, 5, 9);
    expect(long.every((byte) => byte === 0)).toBe(true);
  });

  it.each([
    ['a tag of 80 bits', MASTER, 10],
    ['a tag of 32 bits', SHORT, 4],
    ['the name of its key', NAMED, 14],
  ] as const)('comes back with %s', (_, key, more) => {
    const plain = packet(100);
    const sealed = new SrtpSender(key).protect(plain);
    expect(sealed.length).toBe(plain.length + more);
    expect(text(new SrtpReceiver(key).open(sealed))).toBe(text(plain));
    const control = Buffer.concat([hex('80c9000100000007'), hex('00010203')]);
    const sealedControl = new SrtpSender(key).protectControl(control);
    // RTCP has a tag of 80 bits whatever the suite says.
    expect(sealedControl.length).toBe(control.length + 4 + 10 + key.identifier.length);
    expect(text(new SrtpReceiver(key).openControl(sealedControl))).toBe(text(control));
  });

  it('keeps contributing sources and extension in the clear', () => {
    const plain = hex('91801234 00000010 00000007 11111111 bede0001 22222222 01020304');
    const sealed = new SrtpSender(MASTER).protect(plain);
    expect(text(sealed.subarray(0, 24))).toBe(text(plain.subarray(0, 24)));
    expect(text(sealed.subarray(24, 28))).not.toBe('01020304');
    expect(text(new SrtpReceiver(MASTER).open(sealed))).toBe(text(plain));
  });

  it('is refused when any of its bytes was changed, and heard when it then comes unchanged', () => {
    const sealed = new SrtpSender(MASTER).protect(packet(100));
    const receiver = new SrtpReceiver(MASTER);
    for (const at of sealed.keys()) {
      const forged = Uint8Array.from(sealed);
      forged[at] = (forged[at] ?? 0) ^ 1;
      expect(receiver.open(forged)).toBeNull();
    }
    for (let length = 0; length < sealed.length; length++) expect(receiver.open(sealed.subarray(0, length))).toBeNull();
    expect(receiver.open(sealed)).not.toBeNull();
  });

  it('is refused when it comes again, and when it is too old to know', () => {
    const sender = new SrtpSender(MASTER);
    const sealed = Array.from({ length: 300 }, (_, i) => sender.protect(packet(i)));
    const receiver = new SrtpReceiver(MASTER);
    const open = (i: number): boolean => receiver.open(sealed[i] ?? new Uint8Array(0)) !== null;
    expect([open(10), open(10), open(8), open(9), open(8)]).toEqual([true, false, true, true, false]);
    expect([open(299), open(172), open(171), open(172)]).toEqual([true, true, false, false]);
    const control = [0, 1].map(() => sender.protectControl(hex('80c90001000000070001')));
    const openControl = (i: number): boolean => receiver.openControl(control[i] ?? new Uint8Array(0)) !== null;
    expect([openControl(1), openControl(0), openControl(1)]).toEqual([true, true, false]);
  });
});

describe('sequence numbers', () => {
  it('wrap, also where packets around the wrap come late or are lost', () => {
    const sender = new SrtpSender(MASTER);
    const plain = Array.from({ length: 140_000 }, (_, i) => packet((60_000 + i) & 0xffff));
    const sealed = plain.map((each) => sender.protect(each));
    const receiver = new SrtpReceiver(MASTER);
    const order = [...plain.keys()]
      .filter((i) => i % 10 !== 3)
      .map((i) => (i % 100 === 50 ? i + 1 : i % 100 === 51 ? i - 1 : i));
    for (const i of order)
      if (text(receiver.open(sealed[i] ?? hex(''))) !== text(plain[i] ?? hex(''))) expect(i).toBe('opened');
  });

  it('of a sender that goes on are remembered, however many others come and go, such as music on hold', () => {
    const receiver = new SrtpReceiver(MASTER);
    const sender = new SrtpSender(MASTER);
    const sealed = Array.from({ length: 60 }, (_, i) => sender.protect(packet((65_530 + i) & 0xffff)));
    const open = (i: number): boolean => receiver.open(sealed[i] ?? hex('')) !== null;
    for (let i = 0; i < 50; i++) {
      expect(open(i)).toBe(true);
      expect(receiver.open(new SrtpSender(MASTER).protect(packet(5, { ssrc: 100 + i })))).not.toBeNull();
    }
    expect([open(0), open(49), open(50)]).toEqual([false, false, true]);
  });

  it('begin anew with another stream of the same sender', () => {
    const sender = new SrtpSender(MASTER);
    for (let i = 0; i < 20; i++) sender.protect(packet((65_530 + i) & 0xffff));
    expect(sender.hasWrapped).toBe(true);
    const other = packet(65_000, { ssrc: 8 });
    expect(text(new SrtpReceiver(MASTER).open(sender.protect(other)) ?? hex(''))).toBe(text(other));
    expect(sender.hasWrapped).toBe(false);
  });

  it('of several senders are told apart', () => {
    const receiver = new SrtpReceiver(MASTER);
    for (let ssrc = 1; ssrc <= 40; ssrc++) {
      const sender = new SrtpSender(MASTER);
      expect(receiver.open(sender.protect(packet(65_535, { ssrc })))).not.toBeNull();
      expect(receiver.open(sender.protect(packet(65_536, { ssrc })))).not.toBeNull();
    }
  });
});
