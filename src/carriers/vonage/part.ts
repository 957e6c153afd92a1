/** Vonage: calls that stream over WebSocket. */
import { randomUUID } from 'node:crypto';
import { streamPart } from '../shared/stream-part.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const vonage = streamPart({
  name: 'vonage',
  people: 'Vonage',
  summary: "Vonage's Voice API WebSocket",
  token: 'authorization of the NCCO endpoint, or ?token= in the URL',
  load: async () => {
    const { VonageDialect } = await import('./wire/vonage.ts');
    return () => new VonageDialect({ streamId: randomUUID() });
  },
});
