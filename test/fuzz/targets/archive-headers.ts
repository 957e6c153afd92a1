import assert from 'node:assert/strict';
import { readTarHeader, tarHeader } from '../../../src/models/tar-format.ts';
import { ArchiveError, findZipDirectory, readZipDirectory, zipDataOffset } from '../../../src/models/zip-format.ts';
import { makeZip } from '../../helpers/zip.ts';
import type { FuzzTarget } from '../fuzz.ts';

/** Zip directories and tar headers are refused, or give whole numbers inside of what a file can be. */
export const target: FuzzTarget = {
  name: 'archive-headers',
  seeds: [
    makeZip([
      { path: 'a/model.onnx', data: Buffer.from('model') },
      { path: 'b', data: Buffer.from('b'), isStored: true },
    ]),
    makeZip([]),
    tarHeader('lark/bridge.json', 1234),
    Buffer.alloc(512),
  ],
  run(input) {
    const bytes = Buffer.from(input);
    orRefused(() => {
      const { at, bytes: length } = findZipDirectory(bytes, bytes.length);
      assert.ok(at + length <= bytes.length);
      for (const entry of readZipDirectory(bytes.subarray(at, at + length)))
        assert.ok([entry.bytes, entry.packedBytes, entry.headerAt].every((n) => Number.isInteger(n) && n >= 0));
    });
    orRefused(() => readZipDirectory(bytes));
    orRefused(() => zipDataOffset(bytes));
    if (bytes.length < 512) return;
    orRefused(() => {
      const header = readTarHeader(bytes.subarray(0, 512));
      if (header !== null) assert.ok(Number.isSafeInteger(header.bytes) && header.bytes >= 0);
    });
  },
};

function orRefused(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
  }
}
