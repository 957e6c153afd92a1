/**
 * Large JSON objects that are read here and there: a hash table over the text itself. The lexicons of one accent hold
 * 180,000 words; as a Map of strings they take four times the memory and twice the time to load.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
/** Opening brackets and braces, and their closing ones, differ from each other in this bit alone. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Room for the UTF-8 of a looked-up word. No key of the voice's files is longer. */
const KEY_MAX_BYTES = 256;
/** A table is at most half full, so that a missing word is known after a few steps. */
const SLOTS_PER_KEY = 2;

/** FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

const scratch = Buffer.alloc(KEY_MAX_BYTES * 3);

/** The strings of a JSON object (its keys) or of an array, each with its place in the text. */
export class JsonIndex {
  readonly #json: Buffer;
  /** Places of opening quotes, 0 = free: nothing but the object's brace can be at 0. */
  readonly #slots: Uint32Array;
  /** Keys that are written with escapes, which cannot be compared byte by byte. */
  readonly #escaped = new Map<string, number>();

  /**
   * @param start where the object or array begins
   * @throws Error when there is none, or it ends too soon.
   */
  constructor(json: Buffer, start = 0) {
    this.#json = json;
    const places = findStrings(json, start);
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(1, places.length) * SLOTS_PER_KEY)));
    for (const place of places) this.#add(place);
  }

  /** Whether the object has the key, or the array the string. */
  has(key: string): boolean {
    return this.#find(key) !== 0;
  }

  /** What stands behind a key; undefined where there is no such key. */
  get(key: string): unknown {
    const place = this.#find(key);
    if (place === 0) return undefined;
    const start = skipColon(this.#json, endOfValue(this.#json, place));
    return readValue(this.#json, start);
  }

  #add(place: number): void {
    const end = endOfValue(this.#json, place) - 1;
    if (hasEscape(this.#json, place, end)) {
      this.#escaped.set(JSON.parse(this.#json.toString('utf8', place, end + 1)) as string, place);
      return;
    }
    let slot = hash(this.#json, place + 1, end) & (this.#slots.length - 1);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1);
    this.#slots[slot] = place;
  }

  #find(key: string): number {
    if (key.length > KEY_MAX_BYTES) return 0;
    const length = scratch.write(key);
    let slot = hash(scratch, 0, length) & (this.#slots.length - 1);
    for (let place = this.#slots[slot] ?? 0; place !== 0; place = this.#slots[slot] ?? 0) {
      if (this.#isKey(place, length)) return place;
      slot = (slot + 1) & (this.#slots.length - 1);
    }
    return this.#escaped.get(key) ?? 0;
  }

  #isKey(place: number, length: number): boolean {
    const json = this.#json;
    if (json[place + 1 + length] !== QUOTE) return false;
    for (let i = 0; i < length; i++) if (json[place + 1 + i] !== scratch[i]) return false;
    return true;
  }
}

/**
 * The value at a place of a JSON text.
 * @throws Error when there is none.
 */
export function readValue(json: Buffer, start: number): unknown {
  return JSON.parse(json.toString('utf8', start, endOfValue(json, start)));
}

/**
 * Where the values of an object begin, by key.
 * @throws Error when the text is not a JSON object.
 */
export function findMembers(json: Buffer): Map<string, number> {
  return new Map(
    findStrings(json, 0).map((place) => {
      const end = endOfValue(json, place);
      return [readValue(json, place) as string, skipColon(json, end)] as const;
    }),
  );
}

/** The keys of the object or the strings of the array at `start`. */
function findStrings(json: Buffer, start: number): number[] {
  const places: number[] = [];
  if (!isOpening(json[start])) throw new Error(`expected an object or an array at byte ${start}`);
  for (let at = skipSpace(json, start + 1); !isClosing(json[at]); at = skipSpace(json, at)) {
    if (json[at] !== QUOTE) throw new Error(`expected a string at byte ${at}`);
    places.push(at);
    at = skipSpace(json, endOfValue(json, at));
    if (json[at] === COLON) at = skipSpace(json, endOfValue(json, skipColon(json, at)));
    if (json[at] === COMMA) at++;
  }
  return places;
}

/** The byte behind the value that begins at `start`. */
function endOfValue(json: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const byte = json[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(json, at);
      if (depth === 0) return at + 1;
    } else if (isOpening(byte)) depth++;
    else if (isClosing(byte)) {
      if (depth <= 1) return depth === 1 ? at + 1 : at;
      depth--;
    } else if (depth === 0 && byte === COMMA) return at;
  }
  throw new Error('the text ends inside a value');
}

function isOpening(byte = 0): boolean {
  return (byte | BRACE_BIT) === OPENING;
}

function isClosing(byte = 0): boolean {
  return (byte | BRACE_BIT) === CLOSING;
}

function hasEscape(json: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (json[at] === BACKSLASH) return true;
  return false;
}

/** The closing quote of the string that begins at `start`. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === QUOTE) return at;
    if (json[at] === BACKSLASH) at++;
  }
  throw new Error('the text ends inside a string');
}

function skipSpace(json: Buffer, at: number): number {
  let next = at;
  while ((json[next] ?? QUOTE) <= SPACE) next++;
  return next;
}

function skipColon(json: Buffer, at: number): number {
  const colon = skipSpace(json, at);
  if (json[colon] !== COLON) throw new Error(`expected a colon at byte ${colon}`);
  return skipSpace(json, colon + 1);
}

function hash(bytes: Buffer, start: number, end: number): number {
  let sum = FNV_OFFSET;
  for (let at = start; at < end; at++) sum = Math.imul(sum ^ (bytes[at] ?? 0), FNV_PRIME);
  return (sum ^ (sum >>> 15)) >>> 0;
}
