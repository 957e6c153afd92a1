/** The signature of Plivo's handshakes (https://www.plivo.com/docs/voice/concepts/signature-validation). */
import { TrunklineError } from '../../foundation/errors.ts';
import type { CheckSignature } from '../shared/stream-carrier.ts';
import { isPlivoHandshake } from './wire/plivo-signature.ts';

/** @throws TrunklineError `signature_invalid` */
export const checkPlivoSignature: CheckSignature = (request, { settings, origins }) => {
  const { headers } = request;
  const authToken = settings.PLIVO_AUTH_TOKEN;
  // A subaccount's calls are signed with the main account's token under another name.
  const signature = [headers['x-plivo-signature-v3'] ?? [], headers['x-plivo-signature-ma-v3'] ?? []].flat().join(',');
  const nonce = [headers['x-plivo-signature-v3-nonce'] ?? []].flat()[0];
  if (isPlivoHandshake({ authToken, signature, nonce, url: origins.publicOrigin(request) + request.raw.url })) return;
  throw new TrunklineError(
    'signature_invalid',
    'X-Plivo-Signature-V3 does not fit: check PLIVO_AUTH_TOKEN and PUBLIC_URL (the origin that Plivo was given)',
  );
};
