/**
 * What Asterisk makes of what an app sends it over AudioSocket, as res/res_audiosocket.c reads it and recordings of a
 * 22.10 show: hang-up and sound, and anything else ends the call. No socket and no clock: whoever has them looks at
 * {@link AudioSocketReader.waitsForPayload}.
 */

const HEADER_BYTES = 3;
const KIND_HANGUP = 0x00;
/** Kinds of sound follow one another from here; each is linear PCM at the rate of its place. */
const KIND_SLIN = 0x10;
const SLIN_RATES_HZ = [8000, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000];
/**
 * A frame with more samples does not fit the translators' buffers of 8096 once its rate is doubled: "Out of buffer
 * space".
 */
const FRAME_MAX_SAMPLES = 8096 / 2;
const BYTES_PER_SAMPLE = 2;

/** The kind of linear PCM at `rateHz`. */
export function slinKindOf(rateHz: number): number {
  return KIND_SLIN + Math.max(SLIN_RATES_HZ.indexOf(rateHz), 0);
}

interface ReaderOptions {
  /** A frame that is played at once: `samples` of linear PCM at `rateHz`, as bytes. */
  onFrame(bytes: Uint8Array, rateHz: number): void;
}

export class AudioSocketReader {
  /** What Asterisk logged and went on after, in words. */
  readonly warnings = new Set<string>();
  readonly #options: ReaderOptions;
  #bytes: Buffer = Buffer.alloc(0);
  #end: 'hangup' | 'error' | null = null;
  #error = '';

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** How the app ended the call: by a hang-up, or by a mistake; null = it goes on. */
  get end(): 'hangup' | 'error' | null {
    return this.#end;
  }

  /** The mistake, in the words of Asterisk's log as far as it has some. */
  get error(): string {
    return this.#error;
  }

  /** Whether a header is there and not all of its payload: Asterisk waits 5 ms for that. */
  get waitsForPayload(): boolean {
    return this.#end === null && this.#bytes.length >= HEADER_BYTES;
  }

  /** What came from the app. Ignored after the end. */
  receive(data: Uint8Array): void {
    this.#bytes = this.#bytes.length === 0 ? Buffer.from(data) : Buffer.concat([this.#bytes, data]);
    while (this.#end === null && this.#bytes.length >= HEADER_BYTES) {
      const kind = this.#bytes.readUInt8(0);
      const size = HEADER_BYTES + this.#bytes.readUInt16BE(1);
      if (!this.#mayBeRead(kind, size)) return;
      if (this.#bytes.length < size) return;
      const payload = this.#bytes.subarray(HEADER_BYTES, size);
      this.#bytes = this.#bytes.subarray(size);
      this.#play(payload, SLIN_RATES_HZ[kind - KIND_SLIN] ?? 0);
    }
  }

  /** The app did not send what it announced in time. */
  giveUp(): void {
    this.#fail('Poll timed out while waiting for data');
  }

  /** The header alone decides; hang-up and mistakes are not waited for. */
  #mayBeRead(kind: number, size: number): boolean {
    if (kind === KIND_HANGUP) {
      this.#end = 'hangup';
      return false;
    }
    if (SLIN_RATES_HZ[kind - KIND_SLIN] === undefined)
      this.#fail('Received AudioSocket message other than hangup or audio');
    else if (size === HEADER_BYTES) this.#fail('Invalid message length received from AudioSocket server');
    return this.#end === null;
  }

  #play(payload: Uint8Array, rateHz: number): void {
    if (payload.length % BYTES_PER_SAMPLE === 1) this.warnings.add('a message held half a sample');
    if (payload.length / BYTES_PER_SAMPLE > FRAME_MAX_SAMPLES)
      this.warnings.add('Out of buffer space: a message was too long to be played');
    else this.#options.onFrame(payload, rateHz);
  }

  #fail(error: string): void {
    this.#end ??= 'error';
    this.#error ||= error;
  }
}
