/** Asterisk: the WebSocket of chan_websocket, and its REST interface (ARI). */
import type { Part } from '../../parts/part.ts';

/** Always on for chan_websocket; ARI is used where ARI_URL is set. */
export const asterisk: Part = {
  name: 'asterisk',
  carriers: [{ id: 'asterisk', name: 'Asterisk' }],
  waysIn: [
    { id: 'ari', name: 'Asterisk ARI', opens: [['ARI_URL']], gauge: 'ariConnected' },
    { id: 'asterisk', name: 'Asterisk chan_websocket', protects: 'ASTERISK_PASSWORD', route: '/asterisk/media' },
  ],
  check: async (settings) => (await import('./check.ts')).checkAsterisk(settings),
  open: async (services) => (await import('./open.ts')).openAsterisk(services),
};
