/** How a call over a WebSocket went, in the words of `trunkline call`. */
import type { CallReport } from '../../simulator/twilio-caller.ts';
import type { CallOptions, CallOutcome } from './call-options.ts';

/** RFC 6455 §7.4.1: closed as it should be, and vanished without a close. */
const NORMAL_CLOSURE = 1000;
const ABNORMAL_CLOSURE = 1006;

/** What the reports of all callers with a WebSocket say. */
type SocketReport = Pick<CallReport, 'sentMs' | 'received' | 'warnings' | 'closeCode' | 'closeReason'>;

/** The outcome of a call that ended with `report`. */
export function outcomeOf(report: SocketReport, { dropAfterMs }: CallOptions): CallOutcome {
  const { sentMs, received, warnings, closeCode, closeReason } = report;
  return {
    sentMs,
    received: `${received.mediaBytes} bytes of audio, ${received.marks} marks, ${received.clears} clears`,
    ended: `${closeCode}${closeReason === '' ? '' : ` ${closeReason}`}`,
    asPlanned: closeCode === NORMAL_CLOSURE || (dropAfterMs !== undefined && closeCode === ABNORMAL_CLOSURE),
    warnings,
    report,
  };
}
