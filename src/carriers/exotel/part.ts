/** Exotel: calls that stream over WebSocket. */
import { streamPart } from '../shared/stream-part.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const exotel = streamPart({
  name: 'exotel',
  people: 'Exotel',
  summary: "Exotel's Voicebot and Stream applets (WebSocket)",
  token: 'the password in wss://user:password@host',
  load: async () => {
    const { ExotelDialect } = await import('./wire/exotel.ts');
    return () => new ExotelDialect();
  },
});
