/** Finds the files of tests that the command line names. */
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  type LocatedTests,
  readTestFile,
  TEST_FILE_END,
  TEST_FILE_MAX_BYTES,
} from '../../flows/testing/read-test-file.ts';
import { readFileText } from '../../foundation/watched-file.ts';
import { FileError } from '../../foundation/yaml-text.ts';

/** A file of tests. */
export interface FoundTests {
  /** As the command line names it. */
  readonly shown: string;
  /** Of the flows. */
  readonly folder: string;
  readonly tests: LocatedTests;
}

/**
 * The files of tests at `paths`: files, or folders of flows. A flow's file stands for the tests beside it.
 * @throws FileError when one is wrong, or there is none
 */
export async function findTests(paths: readonly string[]): Promise<FoundTests[]> {
  const found = new Map<string, FoundTests>();
  for (const path of paths) {
    for (const shown of await candidatesAt(path)) {
      if (found.has(resolve(shown))) continue;
      const text = await readFileText(shown, TEST_FILE_MAX_BYTES);
      found.set(resolve(shown), { shown, folder: dirname(resolve(shown)), tests: readTestFile(text, shown) });
    }
  }
  return [...found.values()];
}

async function candidatesAt(path: string): Promise<string[]> {
  const isFolder = await stat(path).then(
    (kind) => kind.isDirectory(),
    () => false,
  );
  if (!isFolder) return [path.endsWith(TEST_FILE_END) ? path : path.replace(/(\.yaml)?$/, TEST_FILE_END)];
  const names = (await readdir(path)).filter((name) => name.endsWith(TEST_FILE_END)).sort();
  if (names.length === 0) throw new FileError(`${path}: has no file that ends with ${TEST_FILE_END}`);
  return names.map((name) => join(path, name));
}
