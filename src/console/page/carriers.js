/** Made by `npm run docs` from the list of parts (src/gateway/parts.ts). Do not edit it. */

/** What people call carriers, in the order of the guide. @type {ReadonlyMap<string, string>} */
export const CARRIER_NAMES = new Map([
  ['twilio', 'Twilio'],
  ['browser', 'the page’s phone'],
  ['demo', 'a demo call'],
  ['signalwire', 'SignalWire'],
  ['telnyx', 'Telnyx'],
  ['plivo', 'Plivo'],
  ['vonage', 'Vonage'],
  ['exotel', 'Exotel'],
  ['genesys', 'Genesys'],
  ['asterisk', 'Asterisk'],
  ['audiosocket', 'AudioSocket'],
  ['freeswitch', 'FreeSWITCH'],
  ['sip', 'SIP'],
  ['siprec', 'SIPREC'],
]);
