/**
 * Every setting there is: name, default, unit and meaning. README's table is compared with this one by a test, `trunkline config` prints it,
 * and `config.ts` reads the environment by it.
 */
import {
  apiKeys,
  appOrigins,
  appUrl,
  ariApp,
  ariUrl,
  asteriskMediaUrl,
  publicUrl,
  rtpPorts,
  serviceUrl,
  sessionExpires,
  sipPublicAddress,
  sipServer,
  twimlUrl,
  voiceMap,
} from './setting-forms.ts';
import { choice, flag, peers, type SettingSpec, secret, share, text, whole } from './setting-kinds.ts';

/** The settings, grouped by what they are about, in the order in which README shows them. */
export const SETTINGS = {
  HOST: text('127.0.0.1', 'address', 'Address to listen on; beyond loopback API_KEYS are required'),
  PORT: whole(8080, 0, 65535, 'port', 'Port to listen on; 0 = any free one'),
  PUBLIC_URL: publicUrl,
  API_KEYS: apiKeys,
  ALLOW_ANONYMOUS: flag(false, 'Let anyone in without a key or a carrier signature'),
  TRUSTED_PROXIES: peers('Your reverse proxies: X-Forwarded-For and X-Forwarded-Proto of others are not believed'),
  LOG_LEVEL: choice('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'Least important log level to print'),
  LOG_FORMAT: choice(
    'auto',
    ['auto', 'json', 'pretty'],
    'How log lines are written: json = one object a line, pretty = for people; auto = pretty where standard output is a terminal',
  ),

  TWILIO_AUTH_TOKEN: secret('token', "Your Twilio account's primary auth token: signatures are checked with it"),
  TWILIO_CALL_TOKEN: choice(
    'required',
    ['required', 'optional'],
    'Whether a stream must bring the one-use token of /twilio/voice; optional = TwiML of your own may connect, its signature alone is checked',
  ),

  CARRIER_TOKEN: secret(
    'token',
    'What Telnyx, SignalWire, Plivo, Vonage and Exotel must bring: as a bearer token, a password or ?token=; empty = their doors are open to this machine only',
  ),
  PLIVO_AUTH_TOKEN: secret('token', "Your Plivo account's auth token: signatures are checked with it, in place of CARRIER_TOKEN"),
  L16_BYTE_ORDER: choice(
    'little',
    ['little', 'big'],
    'Byte order of linear PCM from and to Telnyx, SignalWire and Plivo, which do not document it',
  ),

  ASTERISK_USER: text('asterisk', 'name', 'The username in the websocket_client.conf of an Asterisk that dials /asterisk/media'),
  ASTERISK_PASSWORD: secret('password', 'Its password; empty = the door is open to this machine only'),
  ASTERISK_FILL_SILENCE: flag(
    true,
    'Send silence while nothing is said: since 22.9 Asterisk sends the far party nothing at all then, and some trunks hang up',
  ),
  ARI_URL: ariUrl,
  ARI_USER: text('trunkline', 'name', 'The user in its ari.conf'),
  ARI_PASSWORD: secret('password', "That user's password"),
  ARI_APP: ariApp,
  ASTERISK_MEDIA_URL: asteriskMediaUrl,
  AUDIOSOCKET_PORT: whole(0, 0, 65535, 'port', "TCP port for Asterisk's AudioSocket, on HOST; 0 = closed"),
  AUDIOSOCKET_ALLOW: peers('Who may connect to it: AudioSocket has no credentials; others are cut off'),

  SIP_PORT: whole(0, 0, 65_535, 'port', 'UDP and TCP port for SIP, on HOST; 0 = closed'),
  SIP_ALLOW: peers('Who may send us SIP, beside the hosts of SIP_REGISTRAR and SIP_TRUNK; others get no answer'),
  SIP_REGISTRAR: sipServer('Where to register, to be called through it; empty = nowhere'),
  SIP_USER: text('', 'name', 'Our user at the registrar and the trunk'),
  SIP_PASSWORD: secret('password', 'Its password'),
  SIP_TRUNK: sipServer('Where outgoing calls go; empty = to the registrar'),
  SIP_PUBLIC_ADDRESS: sipPublicAddress,
  SIP_DIALOGS_MAX: whole(64, 1, 10_000, 'calls', 'SIP calls at once from one address; more are refused'),
  SIP_SESSION_EXPIRES_SECONDS: sessionExpires(
    'After how long a SIP call ends whose peer has vanished (session timer, RFC 4028); 0 = never, unless the peer asks for it',
  ),
  RTP_PORTS: rtpPorts,
  RTP_ALLOW: peers(
    'Media relays: where the sound of SIP calls may come from beside the address of the SIP peer and the one in its description',
    '',
  ),

  EXECUTION_PROVIDER: choice('cpu', ['cpu', 'cuda', 'auto'], 'Where models run; auto = CUDA if it works here, else the CPU with a warning'),
  CUDA_DEVICE: whole(0, 0, 63, 'index', 'Which GPU, with cuda or auto'),
  ENGINE_WORKERS: whole(0, 0, 64, 'processes', 'Engine processes; 0 = by the cores found'),
  ENGINE_THREADS: whole(1, 1, 64, 'threads', 'Threads of one model run in one engine process'),
  ENGINE_PRELOAD: flag(true, 'Load the models at the start rather than at the first call'),
  ENGINE_IDLE_MS: whole(600_000, 0, 86_400_000, 'ms', 'Stop the engines after this long without work; 0 = never'),
  ASR_MODEL: choice('moonshine-tiny', ['moonshine-tiny', 'tone'], 'Speech recogniser; tone = a deterministic pretend model for tests'),
  VAD_MODEL: choice('silero', ['silero', 'tone'], 'Voice detector; tone = a deterministic pretend model for tests'),
  TTS_MODEL: choice('flite', ['flite', 'tone'], 'What speaks; tone = a deterministic pretend model for tests'),
  MODEL_GRAPHS: choice(
    'rewritten',
    ['rewritten', 'shipped'],
    "The recogniser's graphs: rewritten once for speed from the published weights, or as they are published (always so on a GPU)",
  ),
  MODEL_CACHE_DIR: text(
    '',
    'folder',
    'Where rewritten graphs are kept; not used where others can write it. Empty = trunkline in XDG_CACHE_HOME or ~/.cache',
  ),
  DECODE_RUN_TOKENS: whole(
    16,
    1,
    512,
    'tokens',
    'Tokens that one run of the rewritten decoder may add; between two runs more urgent work goes first',
  ),
  DEFAULT_VOICE: text(
    'rms',
    'voice',
    'Voice of whatever is said without naming one: rms, slt, awb, kal, kal16, or espeak:de and other languages where espeak-ng is installed',
  ),
  VOICE_MAP: voiceMap,

  PLAYOUT_LEAD_MS: whole(500, 40, 10_000, 'ms', 'How much sound is sent ahead to a carrier that buffers it'),
  BARGE_IN: choice(
    'any',
    ['off', 'speech', 'dtmf', 'any'],
    "What of the caller may interrupt what is being said; a call's parameter bargeIn goes before it",
  ),
  BARGE_IN_CONFIRM_MS: whole(500, 0, 10_000, 'ms', 'Speech of this length interrupts even before its first words are known'),
  BARGE_IN_WORDS: whole(1, 1, 20, 'words', 'So many words interrupt; "mm-hm" and its like count as none'),
  PROMPT_CACHE_BYTES: whole(33_554_432, 0, 17_179_869_184, 'bytes', 'Spoken sentences kept in memory (8000 bytes a second); 0 = none'),
  PROMPT_CACHE_DIR: text(
    '',
    'path',
    'Folder on this machine in which spoken sentences are kept over restarts, for this gateway alone; empty = none',
  ),
  PROMPT_CACHE_DIR_BYTES: whole(268_435_456, 65_536, 1_099_511_627_776, 'bytes', 'Most that PROMPT_CACHE_DIR may hold'),
  PROMPTS_FILE: text(
    '',
    'path',
    'Prompts to be made at the start: one a line, or a JSON list of texts and of {text, voice, speed}; empty = none',
  ),

  SPEECH_INPUT_MAX_CHARS: whole(4096, 1, 1_000_000, 'characters', 'Longest text of one request for speech over HTTP'),
  SPEECH_REQUESTS_MAX: whole(
    16,
    1,
    10_000,
    'requests',
    'Requests for speech served at once, open speech sockets included; more are refused',
  ),
  SPEECH_CACHE_BYTES: whole(
    16_777_216,
    0,
    17_179_869_184,
    'bytes',
    'Sentences spoken over HTTP that are kept in memory, apart from those of calls; 0 = none',
  ),

  APP_URL: appUrl,
  APP_TWIML_URL: twimlUrl,
  APP_TWIML_TIMEOUT_MS: whole(10_000, 100, 15_000, 'ms', 'How long an answer of that webhook, or of what its TwiML names, may take'),
  APP_TWIML_ALLOW_PRIVATE: flag(false, 'Let that webhook, and what its TwiML names, be at loopback, private and link-local addresses'),
  APP_ALLOWED_ORIGINS: appOrigins,
  APP_SIGNING_KEY: secret(
    'key',
    'Signs the connection to the app as Twilio would (X-Trunkline-Signature, X-Twilio-Signature); empty = unsigned',
  ),
  APP_GREETING: text('', 'text', 'Said to the caller as soon as the call is there; empty = nothing'),
  APP_PARTIAL_PROMPTS: flag(false, 'Whether the app is told what the caller says while it is being said'),
  APP_FLUSH_MS: whole(
    1000,
    0,
    60_000,
    'ms',
    'When the app sends no more text for this long without ending its answer, what there is of it is said; 0 = it is waited for',
  ),
  APP_CONNECT_TIMEOUT_MS: whole(5000, 100, 60_000, 'ms', 'How long one connection to the app may take'),
  APP_RECONNECT_MS: whole(15_000, 0, 600_000, 'ms', 'How long an app that cannot be reached is dialled again; 0 = not at all'),
  APP_GONE: choice('end', ['end', 'captions'], 'When the app is gone for good: end the call, or go on with captions alone'),
  APP_GONE_TEXT: text(
    'Sorry, something went wrong. Please call again later.',
    'text',
    'What the caller hears when the app is gone for good',
  ),
  APP_PLAY_MAX_BYTES: whole(8_388_608, 1024, 268_435_456, 'bytes', 'Largest WAV file that an app may have played'),
  APP_PLAY_TIMEOUT_MS: whole(10_000, 100, 120_000, 'ms', 'How long the download of one may take'),
  APP_PLAY_ALLOW_PRIVATE: flag(false, 'Let apps have files played from loopback, private and link-local addresses'),

  VAD_START_THRESHOLD: share(0.5, 'Speech begins at this probability'),
  VAD_STOP_THRESHOLD: share(0.35, 'Speech goes on down to this probability'),
  MIN_SPEECH_MS: whole(64, 32, 2000, 'ms', 'Speech shorter than this is not an utterance'),
  PRE_ROLL_MS: whole(100, 0, 300, 'ms', 'Audio kept before the first speech window (long leading silence spoils recognition)'),
  POST_ROLL_MS: whole(100, 0, 1000, 'ms', 'Audio kept after the last speech window'),
  ENDPOINT_MS: whole(400, 100, 5000, 'ms', 'Silence that ends an utterance (hangover)'),
  EAGER_MS: whole(192, 32, 5000, 'ms', 'Silence after which the final decode is begun, to be used if the silence holds'),
  CHUNK_MS: whole(400, 100, 5000, 'ms', 'New speech between two partial captions'),
  OVERLAP_MS: whole(200, 0, 5000, 'ms', 'Least overlap of a partial window with the one before it'),
  WINDOW_MAX_MS: whole(
    12_000,
    600,
    30_000,
    'ms',
    'How far back a partial window may reach; as long as MAX_UTTERANCE_MS = over the whole utterance',
  ),
  MAX_UTTERANCE_MS: whole(12_000, 1000, 30_000, 'ms', 'Speech without a pause is cut at its quietest point before this length'),

  UPLOAD_MAX_BYTES: whole(1_073_741_824, 1024, 1_099_511_627_776, 'bytes', 'Largest recording that may be uploaded'),
  UPLOAD_TIMEOUT_MS: whole(600_000, 1000, 86_400_000, 'ms', 'How long an upload may take'),
  UPLOAD_DIR: text('', 'path', "Folder for recordings while they are transcribed; empty = the system's temporary folder"),
  UPLOAD_DISK_MAX_BYTES: whole(
    17_179_869_184,
    65_536,
    1_125_899_906_842_624,
    'bytes',
    'Disk that all recordings may take together, those of batches and what ffmpeg makes of them included; more are refused',
  ),
  AUDIO_MAX_SECONDS: whole(14_400, 1, 864_000, 's', 'Longest recording'),
  FFMPEG_TIMEOUT_MS: whole(120_000, 1000, 86_400_000, 'ms', 'How long ffmpeg may take for what is not decoded in here (MP4, WebM, AMR …)'),
  BATCH_QUEUE_MAX: whole(32, 1, 100, 'recordings', 'Recordings in work at once, those that wait for a turn included; more are refused'),
  BATCH_DIR: text(
    '',
    'path',
    'Folder on this machine in which batches outlive a restart, for this gateway alone; empty = a temporary one, lost at the end',
  ),
  BATCH_INPUT_DIR: text('', 'path', 'Folder whose files and folders batches may name by path; empty = none'),
  BATCH_FILES_MAX: whole(500, 1, 10_000, 'files', 'Recordings of one batch'),
  BATCH_MAX_BYTES: whole(4_294_967_296, 1024, 1_099_511_627_776, 'bytes', 'Uploads of one batch together'),
  BATCHES_MAX: whole(50, 1, 1000, 'batches', 'Batches of one API key, those included whose results are still kept; more are refused'),
  BATCH_ALLOW_PRIVATE: flag(false, 'Let batches fetch from and report to loopback, private and link-local addresses'),
  RESULT_TTL_MS: whole(86_400_000, 1000, 2_592_000_000, 'ms', 'How long a batch and its results are kept after its end'),
  WEBHOOK_SECRET: secret('key', 'Signs the news of a batch that has ended (Standard Webhooks); empty = webhooks are refused'),
  TRANSLATE_BASE_URL: serviceUrl,
  TRANSLATE_API_KEY: secret('key', 'Sent to it as a bearer token; empty = none'),
  TRANSLATE_MODEL: text('', 'model', 'Which of its models translates'),
  TRANSLATE_TIMEOUT_MS: whole(60_000, 1000, 600_000, 'ms', 'How long one of its answers may take'),

  REORDER_MS: whole(60, 0, 1000, 'ms', 'How long a missing media chunk is waited for before it is concealed'),
  GAP_MAX_MS: whole(10_000, 100, 60_000, 'ms', 'Longest gap in the media that is filled with silence; a longer one only moves the clock'),
  STALL_MS: whole(
    750,
    100,
    10_000,
    'ms',
    'When no media comes for this long while someone speaks, silence is assumed so that the caption ends',
  ),

  MAX_CALLS: whole(0, 0, 10_000, 'calls', 'Live calls at once; more are refused. 0 = 20 for each core'),
  CONNECTIONS_MAX: whole(
    1000,
    10,
    1_000_000,
    'connections',
    'HTTP connections at once, those of calls and readers included; a new one takes the place of an idle one, and is refused where none is idle',
  ),
  START_TIMEOUT_MS: whole(10_000, 100, 600_000, 'ms', 'A carrier socket that has not begun a stream by then is closed'),
  MEDIA_TIMEOUT_MS: whole(60_000, 100, 3_600_000, 'ms', 'A stream without any message for this long is closed'),
  MESSAGE_MAX_BYTES: whole(65_536, 1024, 1_048_576, 'bytes', 'Largest message of a WebSocket; always 1 MiB on /ws/transcribe'),
  SEND_BUFFER_MAX_BYTES: whole(262_144, 4096, 16_777_216, 'bytes', 'Most that is held for a slow reader before it is cut off'),
  FEED_HISTORY: whole(2000, 10, 100_000, 'events', 'Caption events kept for Last-Event-ID'),
  FEED_READERS_MAX: whole(200, 1, 10_000, 'readers', 'Open caption feeds at once; more are refused'),
  CALLS_KEPT: whole(100, 0, 10_000, 'calls', 'Ended calls whose transcript stays readable'),
  DRAIN_TIMEOUT_MS: whole(30_000, 0, 3_600_000, 'ms', 'How long live calls may go on after SIGTERM'),
} as const satisfies Record<string, SettingSpec<unknown>>;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<S> = S extends SettingSpec<infer T> ? T : never;

/** The checked settings by their environment name, frozen. */
export type Settings = { readonly [K in SettingName]: ValueOf<(typeof SETTINGS)[K]> };
