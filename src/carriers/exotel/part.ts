/** Exotel: calls that stream over WebSocket. */
import { z } from 'zod';
import { streamPart } from '../shared/stream-part.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const exotel = streamPart({
  name: 'exotel',
  people: 'Exotel',
  summary: "Exotel's Voicebot and Stream applets (WebSocket)",
  token: 'the password in wss://user:password@host',
  query: {
    'sample-rate': z
      .string()
      .max(16)
      .optional()
      .describe('The rate that Exotel was asked for, where its start tells none: 8000, 16000 or 24000'),
  },
  load: async () => {
    const { ExotelDialect, exotelRateHz } = await import('./wire/exotel.ts');
    return ({ query }) => new ExotelDialect({ rateHz: exotelRateHz(query['sample-rate']) });
  },
});
