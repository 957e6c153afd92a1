import type { RecordHead, RecordKind } from './sound-format.ts';

/** Where a record is in its file. */
export interface PlacedRecord extends RecordHead {
  /** Counts the records of the file from 0. */
  readonly number: number;
  readonly payloadAt: number;
}

const FIELDS = 5;
const FIRST_CAPACITY = 256;
const KINDS: readonly RecordKind[] = ['caller', 'heard', 'end'];

/** The records of a file in 40 bytes each: a call of hours has thousands, and many calls are heard at once. */
export class RecordIndex {
  #fields = new Float64Array(FIRST_CAPACITY * FIELDS);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Its number is the count so far. */
  add({ kind, isDeflated, startSample, samples, payloadBytes }: RecordHead, payloadAt: number): void {
    const at = this.#count * FIELDS;
    if (at === this.#fields.length) {
      const larger = new Float64Array(2 * this.#fields.length);
      larger.set(this.#fields);
      this.#fields = larger;
    }
    this.#fields.set([startSample, samples, payloadAt, payloadBytes, 2 * KINDS.indexOf(kind) + Number(isDeflated)], at);
    this.#count++;
  }

  /** The records with samples from `fromSample` on and before `toSample`, in the order of the file. */
  *within(fromSample: number, toSample: number): Generator<PlacedRecord, void, undefined> {
    for (let number = 0; number < this.#count; number++) {
      const startSample = this.#fields[number * FIELDS] ?? 0;
      const samples = this.#fields[number * FIELDS + 1] ?? 0;
      if (startSample < toSample && startSample + samples > fromSample) yield this.#at(number);
    }
  }

  #at(number: number): PlacedRecord {
    const at = number * FIELDS;
    const [startSample = 0, samples = 0, payloadAt = 0, payloadBytes = 0, form = 0] = this.#fields.subarray(
      at,
      at + FIELDS,
    );
    const kind = KINDS[form >> 1] ?? 'end';
    return { number, kind, isDeflated: form % 2 === 1, startSample, samples, payloadAt, payloadBytes };
  }
}
