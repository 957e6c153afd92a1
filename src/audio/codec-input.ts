/** What a codec is given of a file: all of it, or what its shortcomings allow. */
import { FlacFrames } from './flac-frames.ts';
import { FlacHead } from './flac-head.ts';
import { OggHeads } from './ogg-head.ts';

/**
 * Takes a file's bytes as they come and gives what is to be decoded now, in parts that are each decoded at once;
 * perhaps none.
 */
export interface CodecInput {
  /** @throws RangeError for a file that is not taken; its message says why */
  push(bytes: Uint8Array): Uint8Array[];
  /** What is left at the end of the file. */
  flush(): Uint8Array[];
}

class PlainInput implements CodecInput {
  push(bytes: Uint8Array): Uint8Array[] {
    return [bytes];
  }

  flush(): Uint8Array[] {
    return [];
  }
}

class OggInput extends PlainInput {
  readonly #heads = new OggHeads();

  override push(bytes: Uint8Array): Uint8Array[] {
    this.#heads.push(bytes);
    return super.push(bytes);
  }
}

class FlacInput implements CodecInput {
  readonly #head = new FlacHead();
  readonly #frames = new FlacFrames();

  push(bytes: Uint8Array): Uint8Array[] {
    const { head, audio } = this.#head.push(bytes);
    return [head, this.#frames.push(audio)].filter(isFilled);
  }

  flush(): Uint8Array[] {
    return [this.#frames.flush()].filter(isFilled);
  }
}

const INPUTS = {
  mp3: () => new PlainInput(),
  flac: () => new FlacInput(),
  vorbis: () => new OggInput(),
  opus: () => new OggInput(),
} as const;

/** The input of a codec for files of `kind`. */
export function inputFor(kind: keyof typeof INPUTS): CodecInput {
  return INPUTS[kind]();
}

function isFilled(part: Uint8Array): boolean {
  return part.length > 0;
}
