/** Counts what comes on a carrier's leg, and counts and logs what goes wrong on it. */
import { asTrunklineError, type ErrorCode, type TrunklineError } from '../foundation/errors.ts';
import type { CarrierEvent } from '../protocols/dialect.ts';
import type { CallContext } from './context.ts';
import type { LegEnd } from './leg.ts';

interface LegMonitorOptions {
  readonly carrier: string;
  readonly context: Pick<CallContext, 'clock' | 'log' | 'metrics'>;
}

/** The monitor of one leg. `callId` = the call that came of it; left out while there is none. */
export class LegMonitor {
  readonly #options: LegMonitorOptions;

  constructor(options: LegMonitorOptions) {
    this.#options = options;
  }

  countMessage(event: CarrierEvent): void {
    const type = event.type === 'ignored' ? event.what : event.type;
    this.#options.context.metrics.messages.inc({ carrier: this.#options.carrier, type });
  }

  /** Counts and logs a failure of ours or of the carrier. Returns the error to close the leg with. */
  noteFailure(error: unknown, callId?: string): TrunklineError {
    const coded = asTrunklineError(error, 'this call could not go on');
    if (coded !== error) this.#options.context.log.error({ err: error, callId }, 'a call failed');
    this.#noteRefusal(coded.code, callId);
    return coded;
  }

  /** A call whose carrier fell silent had been accepted until then: that is no refusal. */
  noteClosed({ reason, code, error }: LegEnd, callId?: string): void {
    const { carrier, context } = this.#options;
    if (code === 'internal') context.log.error({ err: error, callId }, 'a leg failed');
    if (code === null) return;
    if (callId !== undefined && reason === 'timeout')
      context.log.warn({ carrier, callId, code }, 'a call is ended: its carrier sends nothing any more');
    else this.#noteRefusal(code, callId);
  }

  #noteRefusal(code: ErrorCode, callId?: string): void {
    const { carrier, context } = this.#options;
    context.metrics.refused.inc({ code });
    context.metrics.waysIn.failed(carrier, code, context.clock.wall());
    context.log.warn({ carrier, callId, code }, 'stream refused');
  }
}
