/** The UDP ports that media may use. */
import { randomInt } from 'node:crypto';
import { TrunklineError } from '../../../foundation/errors.ts';

/**
 * Pairs of an even port for RTP and the odd one above it for RTCP (RFC 3550 §11), each lent to one RTP session at a
 * time. The choice is random: who wants to forge packets of a call must not be able to predict its port.
 */
export class RtpPorts {
  /** Even ports that are free; those given back come last. */
  readonly #free: number[] = [];
  readonly #lent = new Set<number>();
  readonly #random: (end: number) => number;

  /**
   * All pairs within `first` to `last`. `random` = a whole number from 0 to below its argument; not predictable unless
   * a test says otherwise.
   */
  constructor(range: { readonly first: number; readonly last: number }, random: (end: number) => number = randomInt) {
    this.#random = random;
    for (let port = range.first + (range.first % 2); port + 1 <= range.last; port += 2) this.#free.push(port);
    this.#shuffle();
  }

  /** Pairs that are not lent. */
  get free(): number {
    return this.#free.length;
  }

  /**
   * The even port of a pair, to be given back by {@link giveBack}. A random one of the free ones, except the half that
   * was given back last, so that late packets of an earlier call reach no other call.
   * @throws TrunklineError `too_many_calls` when all are lent
   */
  take(): number {
    const [port] = this.#free.length === 0 ? [] : this.#free.splice(this.#random(Math.ceil(this.#free.length / 2)), 1);
    if (port === undefined)
      throw new TrunklineError('too_many_calls', `all ${this.#lent.size} port pairs of RTP_PORTS are in use`);
    this.#lent.add(port);
    return port;
  }

  /** Ends the loan of a pair; ignored for one that is not lent. */
  giveBack(port: number): void {
    if (this.#lent.delete(port)) this.#free.push(port);
  }

  #shuffle(): void {
    const free = this.#free;
    for (const [i, port] of free.entries()) {
      const other = i + this.#random(free.length - i);
      free[i] = free[other] ?? port;
      free[other] = port;
    }
  }
}
