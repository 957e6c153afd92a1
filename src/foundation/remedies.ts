/** What an operator can do about calls and requests that are refused, one sentence each. */
import type { ErrorCode } from './errors.ts';

/** Codes that calls are refused with, and those of access. docs/reference/errors.md says more of each. */
export const REMEDIES: Readonly<Partial<Record<ErrorCode, string>>> = Object.freeze({
  too_many_calls:
    'Raise MAX_CALLS if the engines have time left, or add cores. A carrier’s fallback address takes such calls.',
  too_many_listeners: 'Raise LISTENERS_MAX if the engines have time left, or add cores.',
  silent_session_ended: 'Nothing was heard for a minute. Raise LISTENERS_MAX if such sockets are to stay open.',
  draining: 'The server was shutting down. Nothing to do, unless it never came back.',
  engine_unavailable: 'No engine can take work: look at the engines above, and at the log.',
  signature_invalid:
    'TWILIO_AUTH_TOKEN must be the account’s primary auth token and PUBLIC_URL the origin that the carrier was given.',
  credentials_invalid: 'The carrier sends a wrong CARRIER_TOKEN or ASTERISK_PASSWORD, or none.',
  call_token_invalid:
    'Streams need the token that /twilio/voice gives. With TwiML of your own set TWILIO_CALL_TOKEN=optional.',
  anonymous_refused: 'Set the secret of this endpoint, or ALLOW_ANONYMOUS=true if your network protects it.',
  users_unreadable: 'Mend the disk of DATA_DIR: users are read within a minute, or at the next start. Or set API_KEYS.',
  address_refused: 'Add the address of the exchange to AUDIOSOCKET_ALLOW.',
  origin_refused: 'A page of another site asked. Behind a proxy that changes Host, set PUBLIC_URL.',
  codec_unsupported: 'Have the carrier send µ-law, A-law or linear PCM of one channel.',
  start_timeout: 'A socket opened and began no stream: look for a health check or a scanner that connects here.',
  media_timeout: 'A stream fell silent: look at the network between the carrier and this server.',
  media_before_start: 'The carrier sends audio before its start message: it is not the carrier of this path.',
  start_repeated: 'Two streams of one call have one id: give each leg an id of its own.',
  message_malformed: 'What came does not follow the carrier’s protocol: check that the path is that carrier’s.',
  message_binary: 'What came does not follow the carrier’s protocol: check that the path is that carrier’s.',
  message_too_large: 'Messages have at most 64 KiB; 1 MiB on /ws/transcribe.',
  audio_too_fast: 'A program sends sound faster than real time: have it wait when the socket is full.',
  reader_too_slow: 'A reader of captions was too slow and was cut off. It comes back by itself and misses nothing.',
  api_key_missing: 'A program or browser sends no key: give it one of API_KEYS.',
  invalid_api_key: 'A program sends a key that is not valid any more.',
  too_many_attempts: 'Somebody guesses keys, or a program retries a wrong one: find it by the address in the log.',
  too_many_readers: 'Raise CONNECTIONS_MAX, or close pages and programs that nobody reads.',
  too_many_requests: 'Clients ask faster than they are served: have them wait as Retry-After says.',
  speech_queue_full: 'An app or a person says more than can be spoken: have it wait for `spoken`.',
  twiml_failed: 'The app’s own TwiML cannot be had or followed: the log has the reason.',
  asterisk_unavailable: 'Asterisk does not answer at ARI_URL: check that it runs and that ARI is enabled.',
  disk_full: 'Free space on the disk, or lower what is kept.',
  upload_disk_full: 'Raise UPLOAD_DISK_MAX_BYTES, or send fewer recordings at once.',
  internal: 'A fault of this server. The log has it; please report it.',
});

const OF_CALLS: readonly ErrorCode[] = [
  'too_many_calls',
  'draining',
  'engine_unavailable',
  'signature_invalid',
  'credentials_invalid',
  'call_token_invalid',
  'address_refused',
  'codec_unsupported',
  'start_timeout',
  'media_timeout',
  'media_before_start',
  'start_repeated',
  'message_malformed',
  'message_binary',
  'message_too_large',
  'audio_too_fast',
];

/** Whether calls are refused with this code; the others are of requests and readers. */
export function refusesCalls(code: string): boolean {
  return OF_CALLS.includes(code as ErrorCode);
}
