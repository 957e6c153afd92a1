import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withSocketPath } from '../../../src/foundation/folders/socket-path.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const read = (path: string) => readFile(path, 'utf8');

describe('withSocketPath', () => {
  it('leaves a path as it is that a socket’s address can hold', async () => {
    expect(await withSocketPath(folder, 'a', async (path) => path)).toBe(join(folder, 'a'));
  });

  it.each<NodeJS.Platform>(['linux', 'darwin'])(
    'has a short path to a folder that lies deep, for as long as it is needed (%s)',
    async (platform) => {
      const deep = join(folder, 'x'.repeat(200));
      mkdirSync(deep);
      writeFileSync(join(deep, 'a'), 'found');
      let short = '';
      const text = await withSocketPath(
        deep,
        'a',
        (path) => {
          short = path;
          return read(path);
        },
        platform,
      );
      expect([text, Buffer.byteLength(short) <= 103]).toEqual(['found', true]);
      expect(existsSync(short)).toBe(false);
      expect(readdirSync(deep)).toEqual(['a']);
    },
  );
});
