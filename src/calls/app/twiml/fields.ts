/**
 * What Twilio tells a webhook of a call (https://www.twilio.com/docs/voice/twiml#request-parameters), of calls of any
 * carrier.
 */
import type { CallStart } from '../../../protocols/dialect.ts';
import type { FormFields } from '../../../protocols/media-streams/twilio-signature.ts';

const API_VERSION = '2010-04-01';

/** Where a call is in its life when an app is asked. */
export type CallStatus = 'ringing' | 'in-progress' | 'completed';

/** How a session with an app ended. */
export interface SessionEnd {
  readonly sessionId: string;
  /** `ended` by the app, `completed` by the end of the call, `failed` because the app is gone. */
  readonly status: 'ended' | 'completed' | 'failed';
  readonly durationMs: number;
  /** Only of one that the app ended. */
  readonly handoffData: string | null;
  /** Only of one that failed: Twilio's code for it (https://www.twilio.com/docs/api/errors) and its words. */
  readonly error: { readonly code: number; readonly message: string } | null;
}

/** Of a call; what is not known is left out, but for the fields that every webhook of Twilio's has. */
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

/** Of a session with an app, beside those of its call. */
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

/** `fields` with others in place of those of the same name. */
export function withFields(fields: FormFields, others: readonly (readonly [string, string])[]): [string, string][] {
  const names = others.map(([name]) => name);
  return [...[...fields].filter(([name]) => !names.includes(name)), ...others].map(([name, value]) => [name, value]);
}

function known(name: string, value: string | undefined): [string, string][] {
  return value === undefined || value === '' ? [] : [[name, value]];
}
