/** Plivo: calls that stream over WebSocket, signed by Plivo. */
import { streamPart } from '../shared/stream-part.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const plivo = streamPart({
  name: 'plivo',
  people: 'Plivo',
  summary: "Plivo's audio streaming (WebSocket)",
  token: '?token= in the URL; not asked for where PLIVO_AUTH_TOKEN is set and X-Plivo-Signature-V3 fits it',
  protects: 'PLIVO_AUTH_TOKEN',
  load: async () => {
    const { PlivoDialect } = await import('./wire/plivo.ts');
    return (options) => new PlivoDialect(options);
  },
  loadSignature: async () => (await import('./signature.ts')).checkPlivoSignature,
});
