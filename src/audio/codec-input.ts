/** Prepares the bytes of a file for its codec, which may not take all of them as they are. */
import { FlacFrames } from './flac-frames.ts';
import { FlacHead } from './flac-head.ts';
import { OggHeads } from './ogg-head.ts';

/** Takes a file's bytes as they come and returns the parts to decode now, one by one; perhaps none. */
export interface CodecInput {
  /** @throws RangeError with the reason for a file that is not allowed */
  push(bytes: Uint8Array): Uint8Array[];
  /** Returns the rest at the end of the file. */
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

/** Creates the input of the codec for files of `kind`. */
export function inputFor(kind: keyof typeof INPUTS): CodecInput {
  return INPUTS[kind]();
}

function isFilled(part: Uint8Array): boolean {
  return part.length > 0;
}
