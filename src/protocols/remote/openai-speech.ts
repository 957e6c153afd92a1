/**
 * Speech by requests with OpenAI's API, as vLLM-Omni, Kokoro-FastAPI and Trunkline itself serve it:
 * https://platform.openai.com/docs/api-reference/audio/createSpeech
 */
import { pcm16ToSamples } from '../../audio/pcm.ts';
import { readWavLayout, type WavLayout } from '../../audio/wav.ts';

/** What is to be said, and how. */
export interface SpeechOrder {
  /** '' = the server has only one. */
  readonly model: string;
  readonly text: string;
  readonly voice: string;
  /** 1 = the voice's own: then it is not sent, for some servers know no other. */
  readonly speed: number;
  /** Of bare samples; null = a WAV file, whose header says it. */
  readonly rateHz: number | null;
}

/** The body of a request, JSON. */
export function speechRequest({ model, text, voice, speed, rateHz }: SpeechOrder): string {
  return JSON.stringify({
    ...(model !== '' && { model }),
    input: text,
    voice,
    response_format: rateHz === null ? 'wav' : 'pcm',
    ...(speed !== 1 && { speed }),
    stream_format: 'audio',
  });
}

/** Sound as it came, in order. */
export interface SoundPart {
  readonly samples: Int16Array;
  readonly rateHz: number;
}

/** A WAV header is not longer. */
const HEAD_MAX_BYTES = 65_536;
const SAMPLE_BYTES = 2;
/** So much is needed to tell what it is. */
const MAGIC_BYTES = 4;
/** Nobody knows how long a streamed file will be. */
const LENGTH_UNKNOWN = Number.MAX_SAFE_INTEGER;

/** Where something else begins that a server may send instead: MP3 with and without a tag, Ogg, FLAC, JSON, a page. */
const OTHERS = /^(?:ID3|\xff[\xe2-\xfb]|OggS|fLaC|\{|\s*<)/;

/** Reads an answer to {@link speechRequest} while it comes: a WAV file, or bare 16-bit mono samples. */
export class SpeechReader {
  readonly #rateHz: number | null;
  #rest: Uint8Array = new Uint8Array(0);
  #layout: WavLayout | 'bare' | null = null;
  /** Bytes of samples that are still to come. */
  #left = LENGTH_UNKNOWN;

  /** @param rateHz of bare samples; null = they are not expected */
  constructor(rateHz: number | null) {
    this.#rateHz = rateHz;
  }

  /**
   * The sound in `bytes`, which follow those of the last call; null = none yet.
   * @throws Error for what is no sound, TrunklineError for a WAV file that cannot be read
   */
  push(bytes: Uint8Array): SoundPart | null {
    this.#rest = this.#rest.length === 0 ? bytes : joined(this.#rest, bytes);
    this.#layout ??= this.#readHead();
    if (this.#layout === null) return null;
    const layout = this.#layout;
    const frameBytes = layout === 'bare' ? SAMPLE_BYTES : layout.frameBytes;
    const there = Math.min(this.#rest.length, this.#left);
    const taken = there - (there % frameBytes);
    if (taken === 0) return null;
    const frames = this.#rest.subarray(0, taken);
    this.#left -= taken;
    this.#rest = this.#left === 0 ? new Uint8Array(0) : this.#rest.slice(taken);
    const samples = layout === 'bare' ? pcm16ToSamples(frames) : layout.read(frames)[0];
    const rateHz = layout === 'bare' ? this.#rateHz : layout.rateHz;
    return samples === undefined || rateHz === null ? null : { samples, rateHz };
  }

  /** What the answer is; null = too little has come. The bytes of a header are taken from what is there. */
  #readHead(): WavLayout | 'bare' | null {
    const rest = this.#rest;
    if (rest.length < MAGIC_BYTES) return null;
    const magic = String.fromCharCode(...rest.subarray(0, MAGIC_BYTES));
    if (magic === 'RIFF' || magic === 'RF64') {
      const layout = readWavLayout(rest.subarray(0, HEAD_MAX_BYTES), LENGTH_UNKNOWN);
      if (layout === null && rest.length < HEAD_MAX_BYTES) return null;
      if (layout === null) throw new Error('the header of its WAV file does not end');
      this.#rest = rest.slice(layout.dataFrom);
      this.#left = layout.dataBytes;
      return layout;
    }
    if (this.#rateHz === null || OTHERS.test(magic)) throw new Error('what it answered is no sound that was asked for');
    return 'bare';
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
