/** The far end of a call of any carrier: speaks, presses keys, and plays what the bridge sends as the carrier would. */
import { encodeG711 } from '../../src/audio/g711.ts';
import { msToBytes, msToSamples } from '../../src/foundation/units.ts';
import type { WireMessage } from '../../src/protocols/dialect.ts';
import type { CarrierLine } from './carrier-lines.ts';

type Queued = { readonly mark: string } | { bytes: number };

/** One call. Time is told by {@link advance}; what it says goes to `send`. */
export class CarrierCaller {
  /** Sound of the bridge that was played. */
  heardMs = 0;
  clears = 0;
  readonly #line: CarrierLine;
  readonly #send: (message: WireMessage) => void;
  readonly #buffer: Queued[] = [];
  #chunks = 0;
  /** Sound of the caller that does not fill a message yet. */
  #unsent: number[] = [];

  constructor(options: { readonly line: CarrierLine; send(message: WireMessage): void }) {
    this.#line = options.line;
    this.#send = options.send;
  }

  start(parameters: Readonly<Record<string, string>> = {}): this {
    for (const message of this.#line.start(parameters)) this.#send(message);
    return this;
  }

  /** The caller's sound, of any length, at the rate of the carrier's codec. */
  speak(samples: Int16Array): void {
    const { codec, chunkMs } = this.#line;
    this.#unsent.push(...samples);
    const size = msToSamples(chunkMs, codec.rateHz);
    while (this.#unsent.length >= size) {
      this.#chunks++;
      const bytes = encodeG711(Int16Array.from(this.#unsent.splice(0, size)), codec);
      this.#send(this.#line.media(bytes, this.#chunks, (this.#chunks - 1) * chunkMs));
    }
  }

  press(digit: string): void {
    this.#send(this.#line.dtmf(digit));
  }

  /** The bridge said something. Throws for what the carrier would not take. */
  receive(message: WireMessage): void {
    const word = this.#line.read(message);
    if (word.type === 'audio') this.#buffer.push({ bytes: word.bytes.length });
    else if (word.type === 'mark') this.#buffer.push({ mark: word.name });
    else this.#clear();
    this.#tellMarks();
  }

  /** `durationMs` go by. */
  advance(durationMs: number): void {
    let leftBytes = msToBytes(durationMs, this.#line.codec);
    for (let head = this.#buffer[0]; head !== undefined && leftBytes > 0; head = this.#buffer[0]) {
      if ('bytes' in head) {
        const played = Math.min(head.bytes, leftBytes);
        head.bytes -= played;
        leftBytes -= played;
        this.heardMs += (1000 * played) / msToBytes(1000, this.#line.codec);
        if (head.bytes === 0) this.#buffer.shift();
      }
      this.#tellMarks();
    }
  }

  /** The caller hangs up; the socket closes after it. */
  stop(): void {
    for (const message of this.#line.stop()) this.#send(message);
  }

  #clear(): void {
    this.clears++;
    const marks = this.#buffer.splice(0).flatMap((queued) => ('mark' in queued ? [queued.mark] : []));
    for (const message of this.#line.cleared(marks)) this.#send(message);
  }

  #tellMarks(): void {
    for (let head = this.#buffer[0]; head !== undefined && 'mark' in head; head = this.#buffer[0]) {
      this.#buffer.shift();
      this.#send(this.#line.mark(head.mark));
    }
  }
}
