/** The registrations of all trunks. Of several gateways one holds each of them. */
import type { Clock } from '../../foundation/clock.ts';
import type { Lead, Leadership } from '../../foundation/leadership.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Accounts } from './accounts.ts';
import { Registration, type RegistrationFailure } from './registration.ts';
import type { SipStack } from './stack.ts';
import { firstHop, routeOver, type SipTrunk, uriAt } from './trunk-list.ts';
import type { SipDestination } from './wire/uris.ts';

interface RegistrationsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'sipRegistered' | 'sipTrunkRegistered' | 'sipRegistrationFailures' | 'waysIn'>;
  readonly settings: Pick<Settings, 'SIP_REGISTRAR'>;
  /** One of several gateways registers at a time; left out = this one does. */
  readonly lead?: Lead | null;
  readonly accounts: Accounts;
  /** How many trunks have a registrar. */
  readonly expected: number;
  onFailure(): void;
  /** The registrar of this trunk has been found there, or not. */
  onSign(trunk: string, sign: 'answered' | 'silent'): void;
}

export class Registrations {
  readonly #options: RegistrationsOptions;
  /** By the name of the trunk; null = another gateway holds it. */
  readonly #registrations = new Map<string, Registration | null>();
  readonly #leaderships: Leadership[] = [];

  constructor(options: RegistrationsOptions) {
    this.#options = options;
  }

  /** Whether all of them stand; false where there is none. */
  get registered(): boolean {
    const all = [...this.#registrations.values()];
    return (
      all.length > 0 &&
      all.length === this.#options.expected &&
      all.every((registration) => registration?.registered === true)
    );
  }

  /** Registers at a trunk's registrar as soon as no other gateway does. Nothing where that has begun, or none is. */
  begin(trunk: SipTrunk, stack: SipStack): void {
    const { registrar, name, user } = trunk;
    if (registrar === null || this.#registrations.has(name)) return;
    this.#registrations.set(name, null);
    const start = (): void => {
      const registration = this.#register({ ...trunk, registrar }, stack);
      this.#registrations.set(name, registration);
      registration.start();
    };
    const { lead = null } = this.#options;
    if (lead === null) {
      start();
      return;
    }
    const leadership = lead(`sip ${user} ${uriAt(registrar, null).toString()}`, {
      onLead: start,
      onLost: () => this.#registrations.get(name)?.end(),
    });
    this.#leaderships.push(leadership);
  }

  /** Somebody at this address asks by OPTIONS whether we are there. */
  asked(address: string): void {
    for (const registration of this.#registrations.values()) registration?.asked(address);
  }

  /** A connection that we had opened was closed, but not by us. */
  connectionClosed(peer: SipDestination): void {
    for (const registration of this.#registrations.values()) registration?.connectionClosed(peer);
  }

  /** Unregisters everywhere; another gateway may register. */
  end(): void {
    for (const registration of this.#registrations.values()) registration?.end();
    for (const leadership of this.#leaderships) void leadership.resign();
  }

  #register(
    trunk: SipTrunk & { readonly registrar: NonNullable<SipTrunk['registrar']> },
    stack: SipStack,
  ): Registration {
    const { clock, log, metrics, settings, accounts } = this.#options;
    const { registrar, name, user } = trunk;
    const isFirst = trunk.name === 'default' && settings.SIP_REGISTRAR !== '';
    return new Registration({
      clock,
      log: isFirst ? log : log.child({ trunk: name }),
      user,
      stack,
      registrar: uriAt(registrar, null),
      route: routeOver(trunk),
      port: firstHop(trunk, registrar).port,
      refusalHint: isFirst ? 'SIP_USER or SIP_PASSWORD' : 'user or password in SIP_TRUNKS',
      onRequest: (message) => accounts.sign(message, trunk),
      onChange: (registered) => {
        metrics.sipTrunkRegistered.set({ trunk: name }, registered ? 1 : 0);
        if (registered) this.#options.onSign(name, 'answered');
        metrics.sipRegistered.set(this.registered ? 1 : 0);
        if (this.registered) metrics.waysIn.worked('sip_registration', clock.wall());
      },
      onFailure: (reason: RegistrationFailure) => {
        metrics.sipRegistrationFailures.inc({ reason });
        if (reason !== 'refused') this.#options.onSign(name, 'silent');
        metrics.waysIn.failed('sip_registration', reason, clock.wall());
        this.#options.onFailure();
      },
    });
  }
}
