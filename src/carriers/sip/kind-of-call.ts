/** Whether the INVITE of a peer is a call, or the recording of one. */
import type { IncomingInviteRequest } from 'sip.js/lib/core/index.js';
import type { Codec } from '../../foundation/units.ts';
import type { CallServices } from './incoming.ts';
import type { IncomingKind } from './incoming-kind.ts';
import { PhoneKind } from './phone-kind.ts';
import { RecordingKind } from './recording-kind.ts';
import type { SipStack } from './stack.ts';
import { sdpIn } from './wire/bodies.ts';
import { callIdOf } from './wire/call-identity.ts';
import type { SessionDescription } from './wire/session-description.ts';
import { parseRecordingSdp } from './wire/siprec/recording-offer.ts';
import { isRecording } from './wire/siprec/recording-request.ts';

/**
 * `codec` = of the call that this one replaces; null = none. Does not throw: a description that cannot be read is
 * refused where the call is answered.
 */
export function kindOf(
  request: IncomingInviteRequest,
  stack: SipStack,
  services: CallServices,
  codec: Codec | null,
): IncomingKind {
  const { message } = request;
  const { metadata, source } = stack.envelopeOf(message);
  const log = services.log.child({ callId: callIdOf(message.callId) });
  const options = { ...services, request, stack, codec, log };
  const sdp = sdpIn(message);
  const offer = sdp === null ? null : orNull(() => parseRecordingSdp(sdp, source.address));
  return isRecording(message, metadata, offer) ? new RecordingKind({ ...options, offer }) : new PhoneKind(options);
}

function orNull(parse: () => SessionDescription): SessionDescription | null {
  try {
    return parse();
  } catch {
    return null;
  }
}
