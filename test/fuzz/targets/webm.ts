import assert from 'node:assert/strict';
import { joinBytes } from '../../../src/audio/bytes.ts';
import { WebmPackets } from '../../../src/audio/webm-packets.ts';
import { opusHead } from '../../helpers/opus-sound.ts';
import { block, cluster, element, trackEntry, webmFile, webmHead } from '../../helpers/webm.ts';
import type { FuzzTarget } from '../fuzz.ts';

const PACKETS = [Buffer.alloc(3, 0xfc), Buffer.alloc(40, 8), Buffer.alloc(1, 0x19)];
const [A, B, C] = PACKETS as [Buffer, Buffer, Buffer];
/** What a block may hold, whatever it claims. */
const KEPT_MAX_BYTES = 65_536;

const laced = (lacing: number, sizes: readonly number[]) =>
  element('simpleBlock', block(joinBytes([Uint8Array.from(sizes), A, B, C]), { lacing }));

/** The packets of WebM, whole and in small pieces: the same, and no more than came. */
export const target: FuzzTarget = {
  name: 'webm',
  seeds: [
    webmFile(PACKETS),
    webmFile(PACKETS, webmHead([trackEntry(1, 'V_VP8', null), trackEntry(2, 'A_OPUS', opusHead(2))])),
    joinBytes([
      webmHead(),
      cluster([laced(2, [2, 3, 40]), laced(6, [2, 0x83, 0xbf + 37]), laced(4, [1])]),
      cluster([element('blockGroup', element('block', block(A))), element('void', B)]),
    ]),
    joinBytes([webmFile([A]), webmFile([B])]),
  ],
  words: ['A_OPUS', 'OpusHead', '\x1aE\xdf\xa3', '\x1fC\xb6u', '\x01\xff\xff\xff\xff\xff\xff\xff'],
  run(input) {
    const bytes = Uint8Array.from(input);
    const whole = read(bytes, bytes.length);
    const cut = read(bytes, 1 + (bytes.length % 23));
    assert.equal(cut.failed, whole.failed);
    if (!whole.failed) assert.deepEqual(cut.packets, whole.packets);
    assert(whole.packets.reduce((sum, { length }) => sum + length, 0) <= bytes.length);
    for (const { length } of whole.packets) assert(length > 0 && length <= KEPT_MAX_BYTES);
  },
};

function read(bytes: Uint8Array, size: number): { packets: Uint8Array[]; failed: boolean } {
  const webm = new WebmPackets();
  const packets: Uint8Array[] = [];
  try {
    for (let at = 0; at < bytes.length; at += size) packets.push(...webm.push(bytes.subarray(at, at + size)));
    return { packets, failed: false };
  } catch (error) {
    assert(error instanceof RangeError);
    return { packets, failed: true };
  }
}
