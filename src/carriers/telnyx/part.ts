/** Telnyx: calls that stream over WebSocket. */
import { streamPart } from '../shared/stream-part.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const telnyx = streamPart({
  name: 'telnyx',
  people: 'Telnyx',
  summary: 'Telnyx media streaming (WebSocket)',
  token: 'stream_auth_token, or ?token= in the URL',
  tokenHeader: 'x-telnyx-streaming-auth-token',
  load: async () => {
    const { TelnyxDialect } = await import('./wire/telnyx.ts');
    return (options) => new TelnyxDialect(options);
  },
});
