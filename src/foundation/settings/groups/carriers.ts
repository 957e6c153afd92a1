import { z } from 'zod';
import { choice, type SettingGroup, secret, text } from '../setting-kinds.ts';

/** Of base64; anything else would be read as a shorter key, or as none. */
const CLIENT_SECRET = /^(?:[\w+/-]{16,}={0,2})?$/;

/** Twilio and the other carriers that connect over WebSocket. */
export const carriers = {
  title: 'Twilio and other carriers',
  part: 'carriers',
  everyday: {
    TWILIO_AUTH_TOKEN: secret(
      'token',
      'Primary auth token of your Twilio account. The server checks the signatures of Twilio with it.',
    ),
    CARRIER_TOKEN: secret(
      'token',
      'Token that Telnyx, SignalWire, Plivo, Vonage, Exotel and FreeSWITCH must send: as a bearer token, ' +
        'as a password or as ?token=. Empty = only this machine may connect to their endpoints.',
    ),
  },
  further: {
    TWILIO_ACCOUNT_SID: text(
      '',
      'sid',
      'Account SID of your Twilio account (AC…). With it and TWILIO_AUTH_TOKEN the server can transfer calls that ' +
        'its webhook did not begin. Empty = it cannot.',
    ),
    TWILIO_CALL_TOKEN: choice(
      'required',
      ['required', 'optional'],
      'Whether a stream must carry the one-use token that /twilio/voice gives out. ' +
        'optional = streams from your own TwiML may connect too; the server then checks only their signature.',
    ),
    PLIVO_AUTH_TOKEN: secret(
      'token',
      'Auth token of your Plivo account. The server checks the signatures of Plivo with it, instead of CARRIER_TOKEN.',
    ),
    GENESYS_API_KEY: secret(
      'key',
      'Key that Genesys Cloud sends with each AudioHook session (X-API-KEY). ' +
        'Empty = only this machine may connect to /genesys/media.',
    ),
    GENESYS_CLIENT_SECRET: {
      ...secret(
        'base64',
        'Client secret of the AudioHook integration, as Genesys Cloud shows it. With it each session must be signed. ' +
          'Empty = the key is enough.',
      ),
      schema: z.string().regex(CLIENT_SECRET, 'at least 16 characters of base64'),
    },
    L16_BYTE_ORDER: choice(
      'little',
      ['little', 'big'],
      'Byte order of linear PCM from and to Telnyx, SignalWire and Plivo. They do not document it.',
    ),
  },
} as const satisfies SettingGroup;
