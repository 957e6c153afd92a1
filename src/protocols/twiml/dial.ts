/** TwiML that gives a call to somebody else (https://www.twilio.com/docs/voice/twiml/dial). */
import { escapeXml } from '../xml.ts';

/** Twilio takes no less and no more for `timeout`, in seconds. */
const TIMEOUT_MIN_S = 5;
const TIMEOUT_MAX_S = 600;
const NUMBER = /^\+?\d{2,20}$/;
const WRITTEN_NUMBER = /^\+?[\s().-]*\d[\d\s().-]*$/;
const SIP = /^sips?:[^\s<>"@]+@[^\s<>"]+$/i;
const CLIENT = /^client:([\w.+@-]{1,121})$/;

/** Whom Twilio is to call, and as whom. */
export interface DialRequest {
  /** A telephone number, a SIP address, or `client:name`. */
  readonly to: string;
  /** The caller number that they see; null = the caller's own. */
  readonly from: string | null;
  /** How long it may ring. */
  readonly timeoutMs: number;
  /** Where Twilio asks (POST) what follows, and says what became of it; null = the call ends with it. */
  readonly action: string | null;
}

/** The document. Null = `to` is nobody whom Twilio can call. */
export function dialTwiml({ to, from, timeoutMs, action }: DialRequest): string | null {
  const whom = noun(to.trim());
  if (whom === null) return null;
  const seconds = Math.min(Math.max(Math.ceil(timeoutMs / 1000), TIMEOUT_MIN_S), TIMEOUT_MAX_S);
  const caller = from === null ? '' : ` callerId="${escapeXml(from)}"`;
  const asks = action === null ? '' : ` action="${escapeXml(action)}"`;
  return response(`<Dial timeout="${seconds}"${caller}${asks}>${whom}</Dial>`);
}

/** The document after which Twilio ends the call. */
export function endTwiml(): string {
  return response('<Hangup/>');
}

function response(verb: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verb}</Response>`;
}

function noun(to: string): string | null {
  if (SIP.test(to)) return `<Sip>${escapeXml(to)}</Sip>`;
  const [, client] = CLIENT.exec(to) ?? [];
  if (client !== undefined) return `<Client>${escapeXml(client)}</Client>`;
  const number = WRITTEN_NUMBER.test(to) ? to.replace(/[\s().-]/g, '') : '';
  return NUMBER.test(number) ? `<Number>${number}</Number>` : null;
}

/**
 * What became of a `<Dial>` that came to nothing, by its `DialCallStatus`
 * (https://www.twilio.com/docs/voice/twiml/dial#dialcallstatus). Null = somebody had the call.
 */
export function failedDial(status: string): 'busy' | 'unanswered' | 'refused' | null {
  if (status === 'busy') return 'busy';
  if (status === 'no-answer') return 'unanswered';
  return status === 'failed' || status === 'canceled' ? 'refused' : null;
}
