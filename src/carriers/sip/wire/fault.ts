/** What is wrong with a SIP message, and the answer that its sender gets if it is one that has answers. */
import { TrunklineError } from '../../../foundation/errors.ts';

/** Our answers' reason phrases where 400 does not say what is meant (RFC 3261 §21.4 to §21.6). */
const REASONS: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  405: 'Method Not Allowed',
  415: 'Unsupported Media Type',
  416: 'Unsupported URI Scheme',
  481: 'Call Does Not Exist',
  482: 'Loop Detected',
  486: 'Busy Here',
  488: 'Not Acceptable Here',
  491: 'Request Pending',
  501: 'Not Implemented',
  505: 'Version Not Supported',
  513: 'Message Too Large',
  603: 'Decline',
};

/**
 * A message that is not taken: `message_malformed`, or `message_too_large` with 513. Both texts go to the sender as
 * they are: they hold nothing of what came, and only characters of a Reason-Phrase (RFC 3261 §25.1).
 */
export class SipFault extends TrunklineError {
  /** Of the answer. */
  readonly statusCode: number;
  /** Reason phrase of the answer. */
  readonly reason: string;

  constructor(what: string, expected: string, statusCode = 400) {
    super(statusCode === 513 ? 'message_too_large' : 'message_malformed', `SIP: got ${what}, expected ${expected}`);
    this.statusCode = statusCode;
    this.reason = `${REASONS[statusCode] ?? 'Bad Request'}: got ${what}, expected ${expected}`;
  }
}
