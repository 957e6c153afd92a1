/**
 * Takes WebM and Matroska (RFC 9559) apart as it comes: the packets of its first track of Opus. Browsers' MediaRecorder
 * streams it with a segment and clusters of unknown size (RFC 9559 §23.2).
 *
 * Elements of these have ids of their own, so they are read one after another, whatever they are in: only tracks and
 * blocks are looked at, and no size of a segment, a cluster or a group counts.
 */
import { joinBytes } from './bytes.ts';
import { type ElementHead, elementsIn, readElementHead, readVariableInt, unsignedOf } from './ebml.ts';
import { framesOfBlock } from './matroska-lacing.ts';
import { type OpusHead, readOpusHead } from './opus-head.ts';

/** Ids (RFC 9559 §5.1, RFC 8794 §11.2). */
const EBML = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const TRACKS = 0x1654ae6b;
const CLUSTER = 0x1f43b675;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
const TRACK_ENTRY = 0xae;
const TRACK_NUMBER = 0xd7;
const CODEC_ID = 0x86;
const CODEC_PRIVATE = 0x63a2;
const CODEC_DELAY = 0x56aa;
const CONTENT_ENCODINGS = 0x6d80;
const AUDIO = 0xe1;
const CHANNELS = 0x9f;

const MAGIC = Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3);
/** What is read in place of its content. */
const OPENED: ReadonlySet<number> = new Set([SEGMENT, CLUSTER, BLOCK_GROUP]);
const OPUS = 'A_OPUS';
/** Opus is counted at 48 kHz; a delay is in ns. */
const SAMPLE_NS = 1e9 / 48_000;
const PRE_SKIP_MAX_SAMPLES = 65_535;

/** All tracks, and one block of sound: 256 frames of Opus have a few kilobytes. */
const KEPT_MAX_BYTES = 65_536;
/** Before a track of Opus is known. */
const FOREIGN_MAX_BYTES = 1_048_576;
/** Of an element that is passed over: more than a picture of video has. */
const ELEMENT_MAX_BYTES = 67_108_864;
/** The longest number of a track. */
const NUMBER_MAX_BYTES = 8;
/** Of a codec's name in an error. */
const NAME_MAX_CHARS = 30;

interface Track {
  readonly number: number;
  readonly head: OpusHead;
}

/** See above. */
export class WebmPackets {
  readonly name = 'WebM';
  #held: Uint8Array = new Uint8Array(0);
  /** Bytes to come that are of no use. */
  #skippedBytes = 0;
  #foreignBytes = 0;
  #track: Track | null = null;

  /** Of the track; another one when a new file has begun. Null before its tracks have come. */
  get head(): OpusHead | null {
    return this.#track?.head ?? null;
  }

  /**
   * The packets of sound that are complete with `bytes`, cut anywhere.
   * @throws RangeError with the reason for a file that is no WebM with Opus in one or two channels
   */
  push(bytes: Uint8Array): Uint8Array[] {
    const packets: Uint8Array[] = [];
    let rest = this.#held.length === 0 ? bytes : joinBytes([this.#held, bytes]);
    for (;;) {
      rest = this.#skip(rest);
      const head = readElementHead(rest);
      if (head === null) break;
      const next = this.#readElement(head, rest.subarray(head.headBytes), packets);
      if (next === null) break;
      rest = next;
    }
    // A copy: a part of a message must not keep all of it in memory.
    this.#held = new Uint8Array(rest);
    return packets;
  }

  #skip(bytes: Uint8Array): Uint8Array {
    const skipped = Math.min(this.#skippedBytes, bytes.length);
    this.#skippedBytes -= skipped;
    return bytes.subarray(skipped);
  }

  /** What follows the element, `content` being what follows its head; null = more has to come first. */
  #readElement({ id, size }: ElementHead, content: Uint8Array, packets: Uint8Array[]): Uint8Array | null {
    if (OPENED.has(id)) return content;
    if (size === null || size > ELEMENT_MAX_BYTES)
      throw new RangeError(
        `got ${size ?? 'no'} bytes of the element ${nameOf(id)}, expected up to ${ELEMENT_MAX_BYTES}`,
      );
    if (id === EBML) this.#track = null;
    if (id === TRACKS) return this.#readTracks(content, size);
    if (id === SIMPLE_BLOCK || id === BLOCK) return this.#readBlock(content, size, packets);
    return this.#passOver(content, size);
  }

  #readTracks(content: Uint8Array, size: number): Uint8Array | null {
    assertKept(size, 'tracks');
    if (content.length < size) return null;
    this.#track = trackOf(content.subarray(0, size));
    this.#foreignBytes = 0;
    return content.subarray(size);
  }

  #readBlock(content: Uint8Array, size: number, packets: Uint8Array[]): Uint8Array | null {
    const number = readVariableInt(content.subarray(0, Math.min(size, NUMBER_MAX_BYTES)));
    if (number === null && size > content.length) return null;
    if (number === null || number.value !== this.#track?.number) return this.#passOver(content, size);
    assertKept(size, 'a block');
    if (content.length < size) return null;
    for (const packet of framesOfBlock(content.subarray(number.length, size)))
      if (packet.length > 0) packets.push(packet);
    return content.subarray(size);
  }

  #passOver(content: Uint8Array, size: number): Uint8Array {
    if (this.#track === null) this.#foreignBytes += size;
    if (this.#foreignBytes > FOREIGN_MAX_BYTES)
      throw new RangeError(`got ${this.#foreignBytes} bytes of WebM without a track of Opus`);
    this.#skippedBytes = size;
    return this.#skip(content);
  }
}

/** Whether a file that begins with these bytes may be WebM; null = more have to come. */
export function isWebm(head: Uint8Array): boolean | null {
  const length = Math.min(head.length, MAGIC.length);
  if (MAGIC.subarray(0, length).some((byte, at) => head[at] !== byte)) return false;
  return head.length < MAGIC.length ? null : true;
}

function assertKept(size: number, what: string): void {
  if (size > KEPT_MAX_BYTES) throw new RangeError(`got ${what} of ${size} bytes, expected at most ${KEPT_MAX_BYTES}`);
}

/** The first track of Opus (RFC 9559 §5.1.4). */
function trackOf(tracks: Uint8Array): Track {
  const codecs: string[] = [];
  for (const { id, content } of elementsIn(tracks)) {
    if (id !== TRACK_ENTRY) continue;
    const fields = new Map([...elementsIn(content)].map((field) => [field.id, field.content]));
    const codec = textOf(fields.get(CODEC_ID));
    if (codec === OPUS && !fields.has(CONTENT_ENCODINGS))
      return { number: unsignedOf(fields.get(TRACK_NUMBER) ?? tracks.subarray(0, 0)), head: headOf(fields) };
    codecs.push(codec === OPUS ? `${codec}, compressed or encrypted` : codec);
  }
  throw new RangeError(`got WebM with ${codecs.join(', ').slice(0, 2 * NAME_MAX_CHARS) || 'no track'}`);
}

/** `CodecPrivate` is the header of Opus. Without it the track itself says what is needed of it. */
function headOf(fields: ReadonlyMap<number, Uint8Array>): OpusHead {
  const codecPrivate = fields.get(CODEC_PRIVATE);
  if (codecPrivate !== undefined) return readOpusHead(codecPrivate);
  const audio = new Map(
    [...elementsIn(fields.get(AUDIO) ?? new Uint8Array(0))].map(({ id, content }) => [id, content]),
  );
  const channels = unsignedOf(audio.get(CHANNELS) ?? Uint8Array.of(1));
  if (channels < 1 || channels > 2) throw new RangeError(`got Opus of ${channels} channels, expected one or two`);
  const delaySamples = Math.round(unsignedOf(fields.get(CODEC_DELAY) ?? new Uint8Array(0)) / SAMPLE_NS);
  return { channels, preSkipSamples: Math.min(delaySamples, PRE_SKIP_MAX_SAMPLES) };
}

/** Of a codec, for errors: it is a stranger's. */
function textOf(content: Uint8Array | undefined): string {
  const text = String.fromCharCode(...(content ?? []).slice(0, NAME_MAX_CHARS));
  return text.replaceAll(/[^ -~]+/g, '');
}

function nameOf(id: number): string {
  return `0x${id.toString(16)}`;
}
