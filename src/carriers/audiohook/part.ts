/** Genesys Cloud's AudioHook: both sides of a conversation, to listen. */
import type { Part } from '../../parts/part.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const audioHook: Part = {
  name: 'audiohook',
  carriers: [{ id: 'genesys', name: 'Genesys' }],
  waysIn: [{ id: 'genesys', name: 'Genesys AudioHook', protects: 'GENESYS_API_KEY', route: '/genesys/media' }],
  check: async (settings) => (await import('./check.ts')).checkAudioHook(settings),
  open: async (services) => (await import('./open.ts')).openAudioHook(services),
};
