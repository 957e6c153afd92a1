/** Elements of EBML (RFC 8794), in which Matroska and WebM files are written. */

/** What an element begins with. */
export interface ElementHead {
  /** With the bits that say its length, as the documents write it. */
  readonly id: number;
  /** Of its content, in bytes; null = it is as long as the elements in it (RFC 8794 §6.2). */
  readonly size: number | null;
  /** Of the head itself. */
  readonly headBytes: number;
}

/** A number and how many bytes it has. */
export interface VariableInt {
  readonly value: number;
  readonly length: number;
}

const ID_MAX_BYTES = 4;
const INT_MAX_BYTES = 8;
/** Longer than any stream: that much is never waited for. */
const VALUE_MAX = Number.MAX_SAFE_INTEGER;

/**
 * The head of the element that `bytes` begin with; null = more have to come.
 * @throws RangeError for what is no head
 */
export function readElementHead(bytes: Uint8Array): ElementHead | null {
  const [first] = bytes;
  if (first === undefined) return null;
  const idLength = lengthOf(first);
  if (idLength > ID_MAX_BYTES)
    throw new RangeError(`got 0x${first.toString(16)}, expected the first byte of an element's id`);
  if (bytes.length <= idLength) return null;
  const size = readVariableInt(bytes.subarray(idLength));
  if (size === null) return null;
  const id = bytes.subarray(0, idLength).reduce((value, byte) => value * 256 + byte, 0);
  const isUnknown = size.value === 2 ** (7 * size.length) - 1;
  return { id, size: isUnknown ? null : Math.min(size.value, VALUE_MAX), headBytes: idLength + size.length };
}

/**
 * A number of variable length (RFC 8794 §4) without the bit that says how long it is; null = more have to come.
 * @throws RangeError for one of more than eight bytes
 */
export function readVariableInt(bytes: Uint8Array): VariableInt | null {
  const [first] = bytes;
  if (first === undefined) return null;
  const length = lengthOf(first);
  if (length > INT_MAX_BYTES) throw new RangeError('got a number of more than 8 bytes, expected at most 8');
  if (bytes.length < length) return null;
  const value = bytes
    .subarray(1, length)
    .reduce((sum, byte) => sum * 256 + byte, first & (2 ** (INT_MAX_BYTES - length) - 1));
  return { value, length };
}

/**
 * The elements that `bytes` hold one after another. The last one may have no end.
 * @throws RangeError for what are no elements
 */
export function* elementsIn(bytes: Uint8Array): Generator<{ readonly id: number; readonly content: Uint8Array }> {
  for (let rest = bytes; rest.length > 0; ) {
    const head = readElementHead(rest);
    if (head === null || head.size === null) return;
    const end = head.headBytes + head.size;
    yield { id: head.id, content: rest.subarray(head.headBytes, end) };
    rest = rest.subarray(end);
  }
}

/** An element's content as a number (RFC 8794 §7.2): 0 where it is empty. */
export function unsignedOf(content: Uint8Array): number {
  return content.subarray(0, INT_MAX_BYTES).reduce((value, byte) => value * 256 + byte, 0);
}

/** The zeros that a number begins with say how many bytes follow (RFC 8794 §4.1). */
function lengthOf(first: number): number {
  return Math.clz32(first) - 23;
}
