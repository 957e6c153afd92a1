import assert from 'node:assert/strict';
import { listNpz, type NpzEntry, readNpz } from '../../../engine/models/kokoro/npz.ts';
import { npzArchive } from '../../helpers/npz-archive.ts';
import type { FuzzTarget } from '../fuzz.ts';

const NUMBERS = Buffer.from(Float32Array.from({ length: 64 }, (_, i) => i).buffer);
const MAX_BYTES = 1024;

/** An archive is refused by an Error that says why, or gives entries inside of it, each with a bounded array. */
export const target: FuzzTarget = {
  name: 'npz',
  seeds: [npzArchive({ af_sky: NUMBERS, am_adam: NUMBERS }), npzArchive({}), Buffer.from('PK\x05\x06')],
  words: ['PK\x01\x02', 'PK\x05\x06', '\x93NUMPY', "'descr': '<f4'", '.npy', '\xff\xff\xff\xff'],
  run(input) {
    const archive = Buffer.from(input);
    let entries: readonly NpzEntry[];
    try {
      entries = listNpz(archive);
    } catch (error) {
      assertSpoken(error);
      return;
    }
    assert.ok(entries.length <= 1000);
    for (const entry of entries.slice(0, 4)) {
      assert.ok(entry.from + entry.packedBytes <= archive.length);
      try {
        assert.ok(4 * readNpz(archive, entry, MAX_BYTES).length <= MAX_BYTES);
      } catch (error) {
        assertSpoken(error);
      }
    }
  },
};

/** Ours, or zlib's; nothing that a wrong step of the reader throws. */
function assertSpoken(error: unknown): void {
  assert.ok(error instanceof Error && !(error instanceof TypeError), String(error));
  const { code } = error as NodeJS.ErrnoException;
  const isOurs = code === undefined && !(error instanceof RangeError);
  assert.ok(isOurs || code?.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE', String(error));
}
