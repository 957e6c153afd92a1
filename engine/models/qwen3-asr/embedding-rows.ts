/**
 * `embed_tokens.bin` of a folder with a split decoder: for each token, the numbers that the first layer is given for
 * it. It has 300 MB and more, of which a text needs some rows: they are read when they are asked for.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { floatsOfHalves } from '../half-floats.ts';

const HALF_BYTES = 2;
const FLOAT_BYTES = 4;

/** A table of floats of 16 or 32 bits in a file, [tokens, width]. */
export class EmbeddingRows {
  readonly #file: number;
  readonly #bytesPerNumber: number;
  readonly #width: number;

  /** @throws Error when the file has another size than the table; errors of the disk */
  constructor(path: string, tokens: number, width: number) {
    this.#file = openSync(path, 'r');
    this.#width = width;
    const { size } = fstatSync(this.#file);
    this.#bytesPerNumber = size / (tokens * width);
    if (this.#bytesPerNumber === HALF_BYTES || this.#bytesPerNumber === FLOAT_BYTES) return;
    closeSync(this.#file);
    throw new Error(
      `${path}: got ${size} bytes, expected ${HALF_BYTES} or ${FLOAT_BYTES} for each of ${tokens} x ${width} numbers`,
    );
  }

  /** The numbers of one token. @throws Error when it cannot be read */
  rowOf(token: number): Float32Array {
    const bytes = new Uint8Array(this.#width * this.#bytesPerNumber);
    const read = readSync(this.#file, bytes, 0, bytes.length, token * bytes.length);
    if (read !== bytes.length) throw new Error(`the embedding of token ${token} cannot be read`);
    return this.#bytesPerNumber === HALF_BYTES
      ? floatsOfHalves(new Uint16Array(bytes.buffer))
      : new Float32Array(bytes.buffer);
  }
}
