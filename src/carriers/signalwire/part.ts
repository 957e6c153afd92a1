/** SignalWire: calls that stream over WebSocket. */
import { streamPart } from '../shared/stream-part.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const signalwire = streamPart({
  name: 'signalwire',
  people: 'SignalWire',
  summary: "SignalWire's Stream (WebSocket)",
  token: 'the attribute authBearerToken',
  load: async () => {
    const { SignalWireDialect } = await import('./wire/signalwire.ts');
    return (options) => new SignalWireDialect(options);
  },
});
