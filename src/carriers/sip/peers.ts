/**
 * Whose messages are looked at: those of SIP_ALLOW, and of the hosts that we are a customer of, whatever their
 * addresses are today.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { AddressRanges } from '../../foundation/addresses.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';

/** Names are asked for again so often. */
const REFRESH_MS = 300_000;
const RETRY_MS = 30_000;

export class Peers {
  readonly #allowed: AddressRanges;
  readonly #hosts: readonly string[];
  readonly #clock: Clock;
  readonly #onUnknown: (host: string, error: unknown) => void;
  /** Addresses of our servers, with their names in the settings. */
  #addresses: ReadonlyMap<string, string> = new Map();
  /** Names that could not be resolved when they were asked for last. */
  #unknown = new Set<string>();
  #timer: Timer | null = null;
  #closed = false;
  #looking: Promise<void> | null = null;

  /** `hosts` = names or addresses; `onUnknown` is told once of one that cannot be resolved. */
  constructor(options: {
    readonly allowed: readonly string[];
    readonly hosts: readonly string[];
    readonly clock: Clock;
    onUnknown(host: string, error: unknown): void;
  }) {
    this.#allowed = new AddressRanges(options.allowed);
    this.#hosts = options.hosts;
    this.#clock = options.clock;
    this.#onUnknown = (host, error) => options.onUnknown(host, error);
  }

  admits(address: string): boolean {
    return this.#allowed.has(address) || this.#addresses.has(address);
  }

  /** The host of the settings that has this address; null = none. */
  hostAt(address: string): string | null {
    return this.#addresses.get(address) ?? null;
  }

  /** Whether this address is a peer's, or this name one of our servers'. */
  knows(host: string): boolean {
    return isIP(host) === 0 ? this.#hosts.some((each) => each.toLowerCase() === host) : this.admits(host);
  }

  /**
   * Asks for the hosts' addresses, now and from time to time. Never rejects. Whoever asks meanwhile waits for the same
   * answers: in an outage all registrations fail, and each would ask for all names.
   */
  open(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    if (this.#hosts.length === 0) return;
    const found = new Map<string, string>();
    const unknown = new Set<string>();
    for (const host of this.#hosts) {
      try {
        for (const { address } of await lookup(host, { all: true })) found.set(address, host);
      } catch (error) {
        unknown.add(host);
        if (!this.#unknown.has(host)) this.#onUnknown(host, error);
      }
    }
    // Where a name cannot be resolved for the moment, the addresses known before still stand.
    this.#unknown = unknown;
    this.#addresses = unknown.size === 0 ? found : new Map([...this.#addresses, ...found]);
    this.#timer?.cancel();
    if (!this.#closed)
      this.#timer = this.#clock.after(unknown.size === 0 ? REFRESH_MS : RETRY_MS, () => void this.open(), true);
  }
}
