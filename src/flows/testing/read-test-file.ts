/** Reads `*.test.yaml`. */
import { basename } from 'node:path';
import { parseYaml } from '../../foundation/yaml-text.ts';
import { type FlowTestFile, testFileSchema } from './test-file.ts';

/** What the names of such files end with. */
export const TEST_FILE_END = '.test.yaml';

/**
 * The tests in `text`, and the name of the flow that they call. `path` is that of the file, for its name and for
 * messages.
 * @throws FileError for the first thing that is wrong
 */
export function readTestFile(text: string, path: string): FlowTestFile & { readonly flow: string } {
  const file = parseYaml(text, path, testFileSchema, ({ tests }, refuse) => {
    const names = new Set<string>();
    for (const [index, { name }] of tests.entries()) {
      if (names.has(name)) refuse(['tests', index, 'name'], 'there is a test of this name already');
      names.add(name);
    }
  });
  return { ...file, flow: file.flow ?? basename(path).slice(0, -TEST_FILE_END.length) };
}
