import { appOrigins, appUrl, twimlUrl } from '../setting-forms.ts';
import { choice, type SettingGroup, secret, text, whole } from '../setting-kinds.ts';

/** The app that talks to callers. */
export const apps = {
  title: 'Apps',
  part: 'apps',
  prefixes: ['APP_'],
  everyday: {
    APP_URL: appUrl(
      'App that talks to callers. The server opens one connection to it for each call. ' +
        'Empty = none; calls are only captioned.',
    ),
    APP_TWIML_URL: twimlUrl(
      'TwiML webhook of the app. The server requests it for each call as Twilio does, instead of using APP_URL. ' +
        'Empty = none.',
    ),
    APP_GREETING: text('', 'text', 'Text that the caller hears when the call starts. Empty = nothing.'),
    BARGE_IN: choice(
      'any',
      ['off', 'speech', 'dtmf', 'any'],
      'How a caller can interrupt the speech that is playing. any = with speech and with keys. ' +
        'The call parameter bargeIn overrides it.',
    ),
  },
  further: {
    REALTIME_APP_URL: appUrl(
      'App that answers in sessions of the Realtime API. Empty = APP_URL; without both the chat endpoint ' +
        'LLM_BASE_URL answers, if LLM_MODEL is set; else nobody.',
    ),
    APP_ALLOWED_ORIGINS: appOrigins(
      'Apps that a stream may choose without a call token, besides the origin of APP_URL. ' +
        'Write wss://host[:port]; it also allows https://host[:port].',
    ),
    APP_SIGNING_KEY: secret(
      'key',
      'Key with which the server signs its connection to the app, as Twilio does (X-Trunkline-Signature, ' +
        'X-Twilio-Signature). Empty = no signature.',
    ),
    APP_GONE: choice(
      'end',
      ['end', 'captions'],
      'What happens to a call when its app is lost for good. end = it ends. captions = it continues with ' +
        'captions only.',
    ),
    APP_GONE_TEXT: text(
      'Sorry, something went wrong. Please call again later.',
      'text',
      'Text that the caller hears when the app is lost for good.',
    ),
    ECHO_CANCELLER: choice(
      'auto',
      ['auto', 'off'],
      'Whether the echo of what is said to a caller is taken out of what comes back. auto = where something is said. ' +
        'off = echoes are told by their words alone.',
    ),
    APP_TWIML_TIMEOUT_MS: whole(
      10_000,
      100,
      15_000,
      'ms',
      'Longest time for an answer of APP_TWIML_URL and of the URLs in its TwiML.',
    ),
  },
} as const satisfies SettingGroup;
