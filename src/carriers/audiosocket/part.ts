/** Asterisk's AudioSocket: bare TCP with a call's sound. */
import type { Part } from '../../parts/part.ts';

/** Its port is open where AUDIOSOCKET_PORT is set; calls may be announced before. */
export const audioSocket: Part = {
  name: 'audiosocket',
  carriers: [{ id: 'audiosocket', name: 'AudioSocket' }],
  waysIn: [
    {
      id: 'audiosocket',
      name: 'AudioSocket',
      opens: [['AUDIOSOCKET_PORT']],
      protects: 'AUDIOSOCKET_ALLOW',
      byAddress: true,
    },
  ],
  open: async (services) => (await import('./open.ts')).openAudioSocket(services),
};
