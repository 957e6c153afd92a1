/** The flows of FLOWS_DIR, as calls find them. */
import { randomUUID } from 'node:crypto';
import { OneUse } from '../../calls/admission/one-use.ts';
import type { CallAppOptions } from '../../calls/app/call-app.ts';
import type { CallFlow, CallFlows } from '../../calls/app/call-flows.ts';
import { callParameter } from '../../calls/app/request.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { FlowSet } from '../file/flow.ts';
import { readFailedTransfer } from './failed-transfer.ts';
import { FlowApp, type FlowServices } from './flow-app.ts';
import { type FlowSnapshot, readFlowSnapshot } from './flow-snapshot.ts';

/** Calls that were given away and may come back. */
const PLACES_MAX = 2000;

/** Where flows are found. */
export interface FlowShelf {
  /** What a new call of that flow keeps; null = there is none. */
  get(name: string): FlowSet | null;
  /** The flow of a called number, or of the user of a SIP address, as the carrier told it; null = none. */
  calledAt(told: string | null): FlowSet | null;
}

/** Where the flow of a call is that was given away. */
interface KeptFlow {
  readonly set: FlowSet;
  /** JSON. */
  readonly state: string;
}

export class FlowCalls implements CallFlows {
  readonly #shelf: FlowShelf;
  /** Of calls that were given away, by names that nobody guesses. */
  readonly #kept: OneUse<KeptFlow>;
  readonly #services: (call: CallAppOptions) => FlowServices;

  /** @param services what the flow of a call is given; tests give each call its own */
  constructor(clock: Clock, shelf: FlowShelf, services: (call: CallAppOptions) => FlowServices) {
    this.#kept = new OneUse({ clock, itemsMax: PLACES_MAX });
    this.#shelf = shelf;
    this.#services = services;
  }

  named(name: string): CallFlow | null {
    return this.#flowOf(this.#shelf.get(name));
  }

  calledAt(told: string | null): CallFlow | null {
    return this.#flowOf(this.#shelf.calledAt(told));
  }

  #keep(set: FlowSet, state: FlowSnapshot): string {
    const name = randomUUID();
    this.#kept.put(name, { set, state: JSON.stringify(state) });
    return name;
  }

  /** Where the flow of a call goes on that comes back; nothing = it comes from no transfer, or that is kept no more. */
  #returnOf({ start: { parameters } }: CallAppOptions) {
    const returned = readFailedTransfer(callParameter(parameters, 'transferresult'));
    const name = callParameter(parameters, 'resume');
    const kept = returned === null || name === undefined ? null : this.#kept.take(name);
    return kept === null ? {} : { set: kept.set, restored: readFlowSnapshot(kept.state, kept.set), returned };
  }

  #flowOf(found: FlowSet | null): CallFlow | null {
    if (found === null) return null;
    const open = (call: CallAppOptions): FlowApp => {
      const { set = found, ...where } = this.#returnOf(call);
      return new FlowApp({ ...this.#services(call), ...where, set, call, keep: (state) => this.#keep(set, state) });
    };
    return { name: found.name, version: found.version, open };
  }
}
