/** A bridge and a phone that calls it over loopback, both on the clock of the test. */

import { SipAgent } from '../../../../src/carriers/sip/agent.ts';
import type { PhoneCall } from '../../../../src/carriers/sip/simulator/call.ts';
import { type DialOptions, SipPhone } from '../../../../src/carriers/sip/simulator/phone.ts';
import { msToSamples } from '../../../../src/foundation/units.ts';
import { type Gateway, startCalls } from '../../../calls/harness.ts';
import { delivered } from '../../../helpers/loopback.ts';
import { freeSipPort } from '../../../helpers/ports.ts';

const STEP_MS = 10;
/** An answer's answer, and one more each way. */
const LOOKS = 4;

/** Loud for `durationMs`, at 8 kHz: what the fake engine takes for speech. */
export function speech(durationMs: number): Int16Array {
  return Int16Array.from({ length: msToSamples(durationMs, 8000) }, (_, i) => ((i & 4) === 0 ? 8000 : -8000));
}

/** `parts` one after the other; a number is so many ms of silence. */
export function soundOf(...parts: (Int16Array | number)[]): Int16Array {
  const all = parts.map((part) => (typeof part === 'number' ? new Int16Array(msToSamples(part, 8000)) : part));
  return Int16Array.from(all.flatMap((part) => [...part]));
}

/** A gateway whose SIP is open, with a phone. */
export class PhoneLine {
  readonly gateway: Gateway;
  readonly phone: SipPhone;
  readonly #agent: SipAgent;
  readonly #uri: string;

  private constructor(gateway: Gateway, agent: SipAgent, phone: SipPhone, uri: string) {
    this.gateway = gateway;
    this.#agent = agent;
    this.phone = phone;
    this.#uri = uri;
  }

  static async open(environment: Record<string, string>): Promise<PhoneLine> {
    const gateway = startCalls(environment);
    const { settings, clock, log, metrics } = gateway.context;
    const agent = new SipAgent({ settings, registry: gateway.registry, clock, log, metrics });
    const address = await agent.listen('127.0.0.1', await freeSipPort());
    return new PhoneLine(gateway, agent, await SipPhone.open({ clock }), `sip:bridge@${address}`);
  }

  /** A call that has been answered. */
  async call(sound: Partial<DialOptions> = {}): Promise<PhoneCall> {
    const call = await this.phone.dial({ uri: this.#uri, audio: new Int16Array(0), endless: true, ...sound });
    await call.answered;
    await this.look();
    return call;
  }

  /** Lets `durationMs` pass, with all that is sent meanwhile. */
  async run(durationMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < durationMs; passedMs += STEP_MS) {
      this.gateway.clock.advance(STEP_MS);
      await this.look();
    }
  }

  /** Lets what was sent arrive. */
  async look(): Promise<void> {
    for (let i = 0; i < LOOKS; i++) await delivered();
  }

  /** The events of one kind so far. */
  events<T extends Gateway['events'][number]['type']>(type: T): Extract<Gateway['events'][number], { type: T }>[] {
    return this.gateway.events.filter(
      (event): event is Extract<Gateway['events'][number], { type: T }> => event.type === type,
    );
  }

  async close(): Promise<void> {
    await this.phone.close();
    await this.look();
    await this.#agent.close();
  }
}
