import assert from 'node:assert/strict';
import { OggPackets } from '../../../src/audio/ogg-packets.ts';
import { OpusPacker, OpusUnpacker, packedMs } from '../../../src/audio/opus-stream.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { oggFile, oggPage, opusPackets } from '../../helpers/opus-sound.ts';
import type { FuzzTarget } from '../fuzz.ts';

const RATE_HZ = 16_000;
const SAMPLES_PER_MS = 16;
const GROUP_MAX_MS = 370;
const SOUND = Int16Array.from({ length: RATE_HZ / 5 }, (_, at) => 8000 * Math.sin(at / 8));
const PACKETS = opusPackets(SOUND);

/** The same bytes as one packet, and as Ogg. */
export const target: FuzzTarget = {
  name: 'opus-stream',
  seeds: [...PACKETS.slice(0, 3), oggFile(PACKETS), oggPage(PACKETS, { flags: 2 }), Uint8Array.of(0xff, 0x3f)],
  words: ['OggS', 'OpusHead', 'OpusTags'],
  run(input) {
    const bytes = Uint8Array.from(input);
    const channels = bytes.length % 2 === 0 ? 1 : 2;
    const unpacker = new OpusUnpacker(RATE_HZ, channels);
    const packer = new OpusPacker();
    packer.skip(bytes.length);
    try {
      for (const packets of [[bytes], packetsIn(bytes)])
        for (const group of packer.pack(packets)) {
          assert(packedMs(group) <= GROUP_MAX_MS);
          const sound = unpacker.read(group);
          assert.equal(sound.length, channels);
          for (const { length } of sound) assert.equal(length, packedMs(group) * SAMPLES_PER_MS);
        }
    } catch (error) {
      assert(error instanceof TrunklineError && error.code === 'audio_unreadable');
    } finally {
      unpacker.close();
    }
  },
};

function packetsIn(bytes: Uint8Array): Uint8Array[] {
  const ogg = new OggPackets();
  try {
    const half = Math.floor(bytes.length / 2);
    return [...ogg.push(bytes.subarray(0, half)), ...ogg.push(bytes.subarray(half))];
  } catch (error) {
    assert(error instanceof RangeError);
    return [];
  }
}
