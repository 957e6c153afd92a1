/** The files of a byte-level BPE in the older form of Hugging Face: `vocab.json`, `merges.txt` and what was added. */
import { ModelFileError, toObject } from './folder-files.ts';

/**
 * Tokens and their numbers. Nothing but numbers is taken: what is nested deep cannot be written again.
 * @param name of the file, for the message
 * @throws ModelFileError
 */
export function readVocabulary(text: string, name: string): Readonly<Record<string, number>> {
  const vocabulary = readNamedObject(text, name);
  if (Object.values(vocabulary).every(Number.isInteger)) return vocabulary as Record<string, number>;
  throw new ModelFileError(`${name}: expected a whole number for each token`);
}

/**
 * Each line has two pieces that become one, those that are merged first in front; the first line may be a comment.
 * @throws ModelFileError
 */
export function readMerges(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const merges = lines[0]?.startsWith('#version') ? lines.slice(1) : lines;
  return merges.flatMap((line, index) => {
    if (line === '') return [];
    if (/^[^ ]+ [^ ]+$/.test(line)) return [line];
    throw new ModelFileError(`merges.txt: line ${index + 1 + lines.length - merges.length}: expected two pieces`);
  });
}

/** The object in a file of that name. @throws ModelFileError */
export function readNamedObject(text: string, name: string): Readonly<Record<string, unknown>> {
  try {
    return toObject(text);
  } catch (error) {
    throw error instanceof ModelFileError ? new ModelFileError(`${name}: ${error.message}`) : error;
  }
}
