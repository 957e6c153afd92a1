import type { Clock, Timer } from '../../src/foundation/clock.ts';
import type { CarrierCommand } from '../../src/protocols/dialect.ts';

/** What a carrier does with the sound that it gets. Times are ms. */
interface PlayerOptions {
  readonly clock: Clock;
  readonly frameMs: number;
  /** Frames of this many bytes may come several in one message; a message is one frame unless this is said. */
  readonly frameBytes?: number;
  /** From us to the carrier, and the same back. */
  readonly wayMs?: number;
  /** Of the marks to be returned, the n-th (from 0) is lost. */
  readonly losesMark?: (n: number) => boolean;
  /** What it returns marks to. */
  onMark(name: string): void;
}

interface Item {
  readonly kind: 'frame' | 'mark';
  readonly level: number;
  readonly name: string;
}

/**
 * A carrier that buffers what it gets and plays it in order, a frame at a time, as Twilio does: marks come back when
 * what stood before them was played or cleared. What is on the wire when it hangs up its ears is lost like anywhere. It
 * writes down what the caller heard.
 */
export class BufferingPlayer {
  /** First byte of each frame that the caller heard, in order. */
  readonly heard: number[] = [];
  clears = 0;
  /** Most frames that waited at once. */
  deepest = 0;
  readonly #options: Required<PlayerOptions>;
  #buffer: Item[] = [];
  #marks = 0;
  #playing: Timer | null = null;
  readonly #onWire = new Set<Timer>();

  constructor(options: PlayerOptions) {
    this.#options = { wayMs: 0, losesMark: () => false, frameBytes: Number.POSITIVE_INFINITY, ...options };
  }

  /** Takes a command as it leaves us. */
  send(command: CarrierCommand): void {
    this.#later(this.#options.wayMs, () => this.#receive(command));
  }

  #receive(command: CarrierCommand): void {
    if (command.type === 'clear') {
      this.clears++;
      const cleared = this.#buffer.filter(({ kind }) => kind === 'mark');
      this.#buffer = [];
      this.#playing?.cancel();
      this.#playing = null;
      for (const { name } of cleared) this.#returnMark(name);
      return;
    }
    if (command.type === 'mark') this.#buffer.push({ kind: 'mark', level: 0, name: command.name });
    else this.#buffer.push(...this.#framesOf(command.bytes));
    this.deepest = Math.max(this.deepest, this.#buffer.filter(({ kind }) => kind === 'frame').length);
    if (this.#playing === null) this.#play();
  }

  #framesOf(bytes: Uint8Array): Item[] {
    const count = Math.max(Math.ceil(bytes.length / this.#options.frameBytes), 1);
    return Array.from({ length: count }, (_, n) => ({
      kind: 'frame',
      level: bytes[n * (bytes.length / count)] ?? 0,
      name: '',
    }));
  }

  /** A frame counts as heard when it has been played to its end. */
  #play(): void {
    while (this.#buffer[0]?.kind === 'mark') this.#returnMark(this.#buffer.shift()?.name ?? '');
    const frame = this.#buffer[0];
    // A mark may have made us send more, which then plays already.
    if (frame === undefined || this.#playing !== null) return;
    this.#playing = this.#options.clock.after(this.#options.frameMs, () => {
      this.#playing = null;
      if (this.#buffer[0] === frame) {
        this.#buffer.shift();
        this.heard.push(frame.level);
      }
      this.#play();
    });
  }

  #returnMark(name: string): void {
    const { wayMs, losesMark, onMark } = this.#options;
    if (!losesMark(this.#marks++)) this.#later(wayMs, () => onMark(name));
  }

  #later(delayMs: number, action: () => void): void {
    if (delayMs === 0) {
      action();
      return;
    }
    const timer = this.#options.clock.after(delayMs, () => {
      this.#onWire.delete(timer);
      action();
    });
    this.#onWire.add(timer);
  }
}
