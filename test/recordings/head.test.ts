import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DETECT_BYTES } from '../../src/audio/detect.ts';
import { readHead } from '../../src/recordings/head.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('readHead', () => {
  it.each([0, 1, DETECT_BYTES, DETECT_BYTES + 1])(
    'of a file of %i bytes has what is there, within its limit',
    async (size) => {
      const path = join(folder, 'file');
      writeFileSync(path, Buffer.alloc(size, 7));
      expect(await readHead(path)).toEqual(new Uint8Array(Math.min(size, DETECT_BYTES)).fill(7));
    },
  );

  it('fails where there is no file', async () => {
    await expect(readHead(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
