/** Twilio Media Streams, the page's phone, which speaks the same protocol, and the demo calls. */
import type { Part } from '../../parts/part.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const twilio: Part = {
  name: 'twilio',
  carriers: [
    { id: 'twilio', name: 'Twilio' },
    { id: 'browser', name: 'the page’s phone' },
    { id: 'demo', name: 'a demo call' },
  ],
  waysIn: [
    { id: 'twilio_webhook', name: 'Twilio webhook', protects: 'TWILIO_AUTH_TOKEN', route: '/twilio/voice' },
    { id: 'twilio', name: 'Twilio media', protects: 'TWILIO_AUTH_TOKEN', route: '/twilio/media' },
    { id: 'browser', name: 'Browser phone', protects: 'API_KEYS' },
  ],
  open: async (services) => (await import('./open.ts')).openTwilio(services),
};
