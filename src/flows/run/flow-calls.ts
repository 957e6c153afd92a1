/** The flows of FLOWS_DIR, as calls find them. */
import type { CallAppOptions } from '../../calls/app/call-app.ts';
import type { CallFlow, CallFlows } from '../../calls/app/call-flows.ts';
import type { FlowSet } from '../file/flow.ts';
import { FlowApp, type FlowServices } from './flow-app.ts';

/** Where flows are found. */
export interface FlowShelf {
  /** What a new call of that flow keeps; null = there is none. */
  get(name: string): FlowSet | null;
  /** The flow of a called number, or of the user of a SIP address, as the carrier told it; null = none. */
  calledAt(told: string | null): FlowSet | null;
}

export class FlowCalls implements CallFlows {
  readonly #shelf: FlowShelf;
  readonly #services: (call: CallAppOptions) => FlowServices;

  /** @param services what the flow of a call is given; tests give each call its own */
  constructor(shelf: FlowShelf, services: (call: CallAppOptions) => FlowServices) {
    this.#shelf = shelf;
    this.#services = services;
  }

  named(name: string): CallFlow | null {
    return this.#flowOf(this.#shelf.get(name));
  }

  calledAt(told: string | null): CallFlow | null {
    return this.#flowOf(this.#shelf.calledAt(told));
  }

  #flowOf(set: FlowSet | null): CallFlow | null {
    if (set === null) return null;
    const open = (call: CallAppOptions): FlowApp => new FlowApp({ ...this.#services(call), set, call });
    return { name: set.name, version: set.version, open };
  }
}
