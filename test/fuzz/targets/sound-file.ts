import assert from 'node:assert/strict';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { CHECKSUMS } from '../../../src/records/sound/record-sealer.ts';
import { type SoundHeader, writeHeader } from '../../../src/records/sound/sound-format.ts';
import { type ReadAt, SoundReader } from '../../../src/records/sound/sound-reader.ts';
import { WavView } from '../../../src/records/sound/wav-view.ts';
import type { FuzzTarget } from '../fuzz.ts';

const HEADER: SoundHeader = { callId: 'CA1', startedMs: 1, law: 'mulaw', rateHz: 8000, keyId: null, salt: '' };
/** What of a file is read: whoever claims a year of sound must not cost a year of silence. */
const READ_BYTES = 65_536;

function seed(): Buffer {
  const sound = Uint8Array.from({ length: 400 }, (_, i) => i);
  const record = { isDeflated: false, samples: sound.length };
  return Buffer.concat([
    writeHeader(HEADER),
    CHECKSUMS.seal({ ...record, kind: 'caller', startSample: 0 }, 0, sound),
    CHECKSUMS.seal({ ...record, kind: 'heard', startSample: 160 }, 1, sound),
    CHECKSUMS.seal({ kind: 'end', isDeflated: false, startSample: 800, samples: 2 }, 2, new Uint8Array(0)),
  ]);
}

/** A file of sound on disk that somebody changed. */
export const target: FuzzTarget = {
  name: 'sound-file',
  seeds: [seed()],
  words: ['TKSOUND1', '"law":"alaw"', '"keyId":null', '"rateHz":', '\u0000\u0000\u0000\u0000'],
  run(input) {
    const file = Buffer.from(input);
    const readAt: ReadAt = (at, length) => file.subarray(at, at + length);
    try {
      const view = new WavView(new SoundReader(readAt, null, false), null);
      const range = view.rangeOf({ first: 0, last: READ_BYTES - 1 });
      assert(range !== null);
      assert.equal(view.read(range).length, range.last + 1);
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      assert(['sound_damaged', 'sound_locked'].includes(error.code), error.code);
    }
  },
};
