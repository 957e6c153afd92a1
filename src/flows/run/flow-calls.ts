/** The flows of FLOWS_DIR, as calls find them. */
import { randomUUID } from 'node:crypto';
import { OneUse } from '../../calls/admission/one-use.ts';
import type { CallAppOptions } from '../../calls/app/call-app.ts';
import type { CallFlow, CallFlows } from '../../calls/app/call-flows.ts';
import { callParameter } from '../../calls/app/request.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { FlowSet } from '../file/flow.ts';
import { FlowApp, type FlowServices } from './flow-app.ts';
import { type FlowPlace, type ReturnedPlace, readFailedTransfer } from './flow-place.ts';

/** Calls that were given away and may come back. */
const PLACES_MAX = 2000;

/** Where flows are found. */
export interface FlowShelf {
  /** What a new call of that flow keeps; null = there is none. */
  get(name: string): FlowSet | null;
  /** The flow of a called number, or of the user of a SIP address, as the carrier told it; null = none. */
  calledAt(told: string | null): FlowSet | null;
}

export class FlowCalls implements CallFlows {
  readonly #shelf: FlowShelf;
  /** Of calls that were given away, by names that nobody guesses. */
  readonly #places: OneUse<FlowPlace>;
  readonly #services: (call: CallAppOptions) => FlowServices;

  /** @param services what the flow of a call is given; tests give each call its own */
  constructor(clock: Clock, shelf: FlowShelf, services: (call: CallAppOptions) => FlowServices) {
    this.#places = new OneUse({ clock, itemsMax: PLACES_MAX });
    this.#shelf = shelf;
    this.#services = services;
  }

  named(name: string): CallFlow | null {
    return this.#flowOf(this.#shelf.get(name));
  }

  calledAt(told: string | null): CallFlow | null {
    return this.#flowOf(this.#shelf.calledAt(told));
  }

  #keep(place: FlowPlace): string {
    const name = randomUUID();
    this.#places.put(name, place);
    return name;
  }

  /** The place that a call comes back to; null = it comes from no transfer, or the place is kept no longer. */
  #returnOf({ start: { parameters } }: CallAppOptions): ReturnedPlace | null {
    const outcome = readFailedTransfer(callParameter(parameters, 'transferresult'));
    const name = callParameter(parameters, 'resume');
    const place = outcome === null || name === undefined ? null : this.#places.take(name);
    return place === null || outcome === null ? null : { place, outcome };
  }

  #flowOf(set: FlowSet | null): CallFlow | null {
    if (set === null) return null;
    const keep = (place: FlowPlace): string => this.#keep(place);
    const open = (call: CallAppOptions): FlowApp => {
      const returned = this.#returnOf(call);
      return new FlowApp({ ...this.#services(call), set: returned?.place.set ?? set, call, returned, keep });
    };
    return { name: set.name, version: set.version, open };
  }
}
