/**
 * The form fields that Twilio sends to a webhook (https://www.twilio.com/docs/voice/twiml#request-parameters), for
 * calls of any carrier.
 */
import type { CallStart } from '../../../protocols/dialect.ts';
import type { FormFields } from '../../../protocols/twilio-signature.ts';
import type { TransferOutcome } from '../../leg.ts';

const API_VERSION = '2010-04-01';

/** The state of a call when an app is asked for TwiML. */
export type CallStatus = 'ringing' | 'in-progress' | 'completed';

/** How a session with an app ended. */
export interface SessionEnd {
  readonly sessionId: string;
  /** `ended` by the app, `completed` by the end of the call, `failed` because the app was lost or never reached. */
  readonly status: 'ended' | 'completed' | 'failed';
  readonly durationMs: number;
  /** Set only if the app ended the session. */
  readonly handoffData: string | null;
  /** Set only if the session failed: Twilio's code (https://www.twilio.com/docs/api/errors) and message. */
  readonly error: { readonly code: number; readonly message: string } | null;
}

/** The fields of a call. Unknown fields are left out, except those that every Twilio webhook has. */
export function callFields(
  { callId, from, to, details = {}, outgoing = false }: CallStart,
  status: CallStatus,
): [string, string][] {
  const [caller, called] = [from ?? '', to ?? ''];
  return [
    ['CallSid', callId],
    ['AccountSid', details.accountSid ?? ''],
    ['From', caller],
    ['To', called],
    ['Caller', caller],
    ['Called', called],
    ['CallStatus', status],
    ['Direction', outgoing ? 'outbound-api' : 'inbound'],
    ['ApiVersion', API_VERSION],
    ...known('CallerName', details.callerName),
    ...known('ForwardedFrom', details.forwardedFrom),
    ...known('ParentCallSid', details.parentCallSid),
  ];
}

/** The fields of a session with an app, which are added to those of its call. */
export function sessionFields({ sessionId, status, durationMs, handoffData, error }: SessionEnd): [string, string][] {
  return [
    ['SessionId', sessionId],
    ['SessionStatus', status],
    ['SessionDuration', String(Math.round(durationMs / 1000))],
    ...known('HandoffData', handoffData ?? undefined),
    ...known('ErrorCode', error === null ? undefined : String(error.code)),
    ...known('ErrorMessage', error?.message),
  ];
}

/**
 * What the `action` of a `<Dial>` that came to nothing is told beside the fields of the call
 * (https://www.twilio.com/docs/voice/twiml/dial#dialcallstatus).
 */
export function dialFields(outcome: Exclude<TransferOutcome, 'transferred'>): [string, string][] {
  return [['DialCallStatus', outcome === 'busy' ? 'busy' : outcome === 'unanswered' ? 'no-answer' : 'failed']];
}

/** `fields` and `others`; where both have a field of the same name, that of `others`. */
export function withFields(fields: FormFields, others: readonly (readonly [string, string])[]): [string, string][] {
  const names = others.map(([name]) => name);
  return [...[...fields].filter(([name]) => !names.includes(name)), ...others].map(([name, value]) => [name, value]);
}

function known(name: string, value: string | undefined): [string, string][] {
  return value === undefined || value === '' ? [] : [[name, value]];
}
