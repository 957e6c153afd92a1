/** The UDP ports that media may use. */
import { TrunklineError } from '../../errors.ts';

/** Pairs of an even port for RTP and the odd one above it for RTCP (RFC 3550 §11), each lent to one session at a time. */
export class RtpPorts {
  /** Even ports that are free, in the order in which they are lent: the one given back last comes last, so that late packets meet nobody. */
  readonly #free: number[] = [];
  readonly #lent = new Set<number>();

  /** All pairs that lie wholly within `first` to `last`. */
  constructor(range: { readonly first: number; readonly last: number }) {
    for (let port = range.first + (range.first % 2); port + 1 <= range.last; port += 2) this.#free.push(port);
  }

  /** Pairs that are not lent. */
  get free(): number {
    return this.#free.length;
  }

  /**
   * The even port of a pair, to be given back by {@link giveBack}.
   * @throws TrunklineError `too_many_calls` when all are lent
   */
  take(): number {
    const port = this.#free.shift();
    if (port === undefined) throw new TrunklineError('too_many_calls', `all ${this.#lent.size} port pairs of RTP_PORTS are in use`);
    this.#lent.add(port);
    return port;
  }

  /** Ends the loan of a pair; ignored for one that is not lent. */
  giveBack(port: number): void {
    if (this.#lent.delete(port)) this.#free.push(port);
  }
}
