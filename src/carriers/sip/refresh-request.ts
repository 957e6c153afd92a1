/**
 * A request within a call that refreshes its session: UPDATE (RFC 3311), or INVITE with the description that was last
 * said.
 */
import {
  type IncomingResponseMessage,
  type OutgoingRequest,
  type OutgoingRequestDelegate,
  type Session,
  SessionDialog,
} from 'sip.js/lib/core/index.js';
import type { Credentials } from './credentials.ts';
import type { RefreshMethod } from './session-timer.ts';
import { type SipBody, sdpBody } from './wire/bodies.ts';

interface RefreshRequest {
  readonly session: Session;
  readonly method: RefreshMethod;
  readonly headers: readonly string[];
  /** The description of an INVITE. */
  readonly sdp: string;
  /** What a challenge is answered with; null = with nothing. */
  readonly credentials: Credentials | null;
  /** The final answer; one to an INVITE has been acknowledged. A transaction that fails gives 408 or 503. */
  onFinal(answer: IncomingResponseMessage): void;
}

/** Sends it. Throws when another INVITE within the call is in the way. */
export function sendRefresh(request: RefreshRequest): void {
  const { onFinal, credentials, headers } = request;
  const onRefused = ({ message }: { message: IncomingResponseMessage }): void => {
    const authorization = credentials === null ? null : answerChallenge(sent, message, credentials);
    if (authorization === null) onFinal(message);
    else sendRefresh({ ...request, headers: [...headers, authorization], credentials: null });
  };
  const sent = request.method === 'UPDATE' ? sendUpdate(request, onRefused) : sendInvite(request, onRefused);
}

type OnRefused = NonNullable<OutgoingRequestDelegate['onReject']>;

/** An UPDATE of ours. */
interface UpdateRequest extends Pick<RefreshRequest, 'session' | 'headers' | 'onFinal'> {
  /** Left out = none. */
  readonly body?: SipBody;
}

/** sip.js makes no UPDATE of its own. `onRefused` = what becomes of every answer that is no 2xx. */
export function sendUpdate(request: UpdateRequest, onRefused: OnRefused): OutgoingRequest {
  const { session, headers, body, onFinal } = request;
  if (!(session instanceof SessionDialog)) throw new Error('a session that is no dialog of sip.js');
  const extraHeaders = [...headers];
  const message = session.createOutgoingRequestMessage('UPDATE', { extraHeaders, ...(body && { body }) });
  return session.userAgentCore.request(message, {
    onAccept: (response) => onFinal(response.message),
    onReject: onRefused,
    onRedirect: onRefused,
  });
}

function sendInvite({ session, headers, sdp, onFinal }: RefreshRequest, onRefused: OnRefused): OutgoingRequest {
  return session.invite(
    {
      onAccept: ({ message, ack }) => {
        ack();
        onFinal(message);
      },
      onReject: onRefused,
      onRedirect: onRefused,
    },
    { extraHeaders: [...headers], body: sdpBody(sdp) },
  );
}

/** The header that answers a challenge (RFC 3261 §22); null when the answer is none, or cannot be answered. */
export function answerChallenge(
  { message: request }: OutgoingRequest,
  answer: IncomingResponseMessage,
  credentials: Credentials,
): string | null {
  const { statusCode } = answer;
  if (statusCode !== 401 && statusCode !== 407) return null;
  const challenge: unknown = answer.parseHeader(statusCode === 401 ? 'www-authenticate' : 'proxy-authenticate');
  if (challenge === null || typeof challenge !== 'object' || !credentials.authenticate(request, challenge)) return null;
  return `${statusCode === 401 ? 'Authorization' : 'Proxy-Authorization'}: ${credentials.toString()}`;
}
