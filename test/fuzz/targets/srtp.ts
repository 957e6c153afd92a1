import assert from 'node:assert/strict';
import { writeRtp } from '../../../src/carriers/sip/wire/rtp/packet.ts';
import { SrtpReceiver, SrtpSender } from '../../../src/carriers/sip/wire/rtp/srtp.ts';
import type { SrtpKey } from '../../../src/carriers/sip/wire/rtp/srtp-keys.ts';
import type { FuzzTarget } from '../fuzz.ts';

const KEY: SrtpKey = {
  suite: 'AES_CM_128_HMAC_SHA1_80',
  key: Buffer.alloc(16, 1),
  salt: Buffer.alloc(14, 2),
  identifier: Uint8Array.of(0, 1),
};
const NEXT_KEY: SrtpKey = { ...KEY, key: Buffer.alloc(16, 3), identifier: new Uint8Array(0) };
const sender = new SrtpSender(KEY);
const nextSender = new SrtpSender(NEXT_KEY);
/** What was said, by how it looks when it is secured. */
const said = new Map<string, Uint8Array>();
const sealedBy = (owner: SrtpSender): Uint8Array[] =>
  Array.from({ length: 12 }, (_, i) => {
    const payload = new Uint8Array(20).fill(i);
    const sequence = (65_530 + i) & 0xffff;
    const packet = writeRtp({ marker: false, payloadType: 0, sequence, timestamp: i * 160, ssrc: 7, payload });
    return keep(packet, owner.protect(packet));
  });
const sealed = sealedBy(sender);
const sealedNext = sealedBy(nextSender);
const EMPTY = new Uint8Array(0);
const control = Buffer.from('81c9000700000007aabbccdd000000010000ffff000000000000000000000000', 'hex');
const sealedControl = keep(control, sender.protectControl(control));

function keep(packet: Uint8Array, datagram: Uint8Array): Uint8Array {
  said.set(Buffer.from(datagram).toString('hex'), packet);
  return datagram;
}

/** Datagrams as bytes, each behind its length (16 bits). After the first empty one the peer has another key. */
function datagrams(...all: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(all.flatMap((each) => [Buffer.of(each.length >> 8, each.length & 0xff), each]));
}

/** Nothing is opened but what the owner of the key has said, as it was said, and each packet once. */
export const target: FuzzTarget = {
  name: 'srtp',
  seeds: [
    datagrams(...sealed),
    datagrams(...sealed.map((each, i) => sealed[i ^ 1] ?? each), sealedControl),
    datagrams(...sealed, ...sealed, sealedControl, sealedControl),
    datagrams(...sealed.slice(0, 8), EMPTY, ...sealed.slice(6), ...sealedNext.slice(7), ...sealed, sealedControl),
    datagrams(Buffer.from('91801234000000100000000711111111bede0001222222220102030400000000000000000000', 'hex')),
  ],
  run(input) {
    let receiver = new SrtpReceiver(KEY);
    let isNext = false;
    const opened = new Set<string>();
    for (let at = 0; at + 2 <= input.length; ) {
      const length = ((input[at] ?? 0) << 8) | (input[at + 1] ?? 0);
      const datagram = input.subarray(at + 2, at + 2 + length);
      const name = Buffer.from(datagram).toString('hex');
      for (const plain of [receiver.open(datagram), receiver.openControl(datagram)]) {
        if (plain === null) continue;
        const expected = said.get(name);
        assert(expected !== undefined && Buffer.compare(plain, expected) === 0, 'a forged packet was opened');
        assert(!opened.has(name), 'a packet was opened twice');
        opened.add(name);
      }
      at += 2 + datagram.length;
      if (length === 0 && !isNext) {
        isNext = true;
        receiver = new SrtpReceiver(NEXT_KEY, receiver);
      }
    }
  },
};
