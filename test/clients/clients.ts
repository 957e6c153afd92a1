/**
 * The clients that `npm run clients` runs unchanged. Each row is one version of one package, run by one program of this
 * folder, which prints one JSON line of what it saw; `goldens/<name>.json` says what that must be.
 */

/** One version of a client. */
export interface Client {
  /** Names its golden. */
  readonly name: string;
  /** As it says in the table: package and version. */
  readonly title: string;
  /** A file of this folder: `.mjs` is run by Node, `.py` by Python. */
  readonly program: string;
  /**
   * What is installed: one npm package with its version, which the program imports by the name in `CLIENT`, or packages
   * as pip has them.
   */
  readonly install: readonly [string, ...string[]];
  /** The page of the table, and what the program does. */
  readonly door: string;
  readonly shows: string;
  /** Of the program, beside those of every client. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A chat endpoint answers in sessions that speak. */
  readonly brain?: true;
  /** The client is given an https address, and told to believe the gateway's certificate. */
  readonly tls?: true;
}

const OPENAI_REST = {
  program: 'openai-rest.mjs',
  door: 'OpenAI audio',
  shows: 'a recording as text, as a stream of deltas, with words; a text as speech',
} as const;

const TRANSCRIBE = {
  door: 'Qwen3-ASR socket',
  shows: 'live audio as running text, and its finals',
} as const;

const DEEPGRAM = {
  door: 'Deepgram live',
  shows: 'live audio: interim and final results, events of speech, Finalize, the end',
} as const;

const DEEPGRAM_SPEECH = {
  door: 'Deepgram files and speech',
  shows: 'a recording as text; a text as speech, by REST and by socket, heard again; refusals',
} as const;

const REALTIME = {
  door: 'OpenAI Realtime',
  shows: 'live audio as running text, and its transcript',
} as const;

const REALTIME_NODE = { program: 'openai-realtime.mjs', tls: true, ...REALTIME } as const;

const ANSWERS = {
  door: 'OpenAI Realtime, answers',
  shows: 'a tool is called, its answer is spoken and heard again, an interruption cuts it to what was heard',
  brain: true,
} as const;

const ANSWERS_NODE = { program: 'openai-answers.mjs', tls: true, ...ANSWERS } as const;

/** As browsers have it, and Node from 22 on without asking. */
const OWN_WEBSOCKET = { environment: { NODE_OPTIONS: '--experimental-websocket' } } as const;

/** What LiveKit's plugins for Node want beside them. */
const LIVEKIT_NODE = ['@livekit/agents@1.9.0', '@livekit/rtc-node@0.13', 'zod@4'] as const;

/** In the order of the table. */
export const CLIENTS: readonly Client[] = [
  { name: 'openai-node-5-rest', title: 'openai (Node) 5.23.2', install: ['openai@5.23.2'], ...OPENAI_REST },
  { name: 'openai-node-6-rest', title: 'openai (Node) 6.49.0', install: ['openai@6.49.0'], ...OPENAI_REST },
  { name: 'openai-node-7-rest', title: 'openai (Node) 7.57.0', install: ['openai@7.57.0'], ...OPENAI_REST },
  {
    name: 'openai-node-7-rest-tls',
    title: 'openai (Node) 7.57.0, https',
    install: ['openai@7.57.0'],
    ...OPENAI_REST,
    tls: true,
  },
  {
    name: 'openai-python-rest',
    title: 'openai (Python) 3.54.0',
    install: ['openai==3.54.0'],
    ...OPENAI_REST,
    program: 'openai-rest.py',
  },
  {
    name: 'ai-sdk',
    title: 'ai 7.0.173 (Vercel), @ai-sdk/openai 4.0.118',
    ...OPENAI_REST,
    program: 'ai-sdk.mjs',
    install: ['ai@7.0.173', '@ai-sdk/openai@4.0.118', 'zod@4'],
    shows: 'a recording as text, with times; a text as speech, heard again; a refusal',
  },
  {
    name: 'livekit-openai-node',
    title: '@livekit/agents-plugin-openai 1.9.0',
    ...OPENAI_REST,
    program: 'livekit-openai.mjs',
    install: ['@livekit/agents-plugin-openai@1.9.0', ...LIVEKIT_NODE],
    shows: 'a recording as text; a text as speech, heard again',
  },
  { name: 'ws-transcribe', title: 'ws 8.18.3', program: 'ws-transcribe.mjs', install: ['ws@8.18.3'], ...TRANSCRIBE },
  {
    name: 'deepgram-node-3',
    title: '@deepgram/sdk 3.13.0',
    program: 'deepgram-node-4.mjs',
    install: ['@deepgram/sdk@3.13.0'],
    ...DEEPGRAM,
  },
  {
    name: 'deepgram-node-4',
    title: '@deepgram/sdk 4.11.3',
    program: 'deepgram-node-4.mjs',
    install: ['@deepgram/sdk@4.11.3'],
    ...DEEPGRAM,
  },
  {
    name: 'deepgram-node-5',
    title: '@deepgram/sdk 5.13.0',
    program: 'deepgram-node-5.mjs',
    install: ['@deepgram/sdk@5.13.0'],
    ...DEEPGRAM,
    shows: `${DEEPGRAM.shows}; turns (Flux)`,
  },
  {
    name: 'deepgram-python-3',
    title: 'deepgram-sdk (Python) 3.11.0',
    program: 'deepgram-python-4.py',
    install: ['deepgram-sdk==3.11.0'],
    ...DEEPGRAM,
  },
  {
    name: 'deepgram-python-4',
    title: 'deepgram-sdk (Python) 4.8.1',
    program: 'deepgram-python-4.py',
    install: ['deepgram-sdk==4.8.1'],
    ...DEEPGRAM,
  },
  {
    name: 'deepgram-python-7',
    title: 'deepgram-sdk (Python) 7.17.0',
    program: 'deepgram-python-7.py',
    install: ['deepgram-sdk==7.17.0'],
    ...DEEPGRAM,
    shows: `${DEEPGRAM.shows}; turns (Flux)`,
  },
  {
    name: 'deepgram-livekit',
    title: 'livekit-plugins-deepgram (Python) 1.8.9',
    program: 'deepgram-livekit.py',
    install: ['livekit-agents==1.8.9', 'livekit-plugins-deepgram==1.8.9'],
    ...DEEPGRAM,
    shows: 'start and end of speech, interim and final texts; turns and preflight (STTv2)',
  },
  {
    name: 'deepgram-pipecat',
    title: 'pipecat-ai (Python) 1.14.0',
    program: 'deepgram-pipecat.py',
    install: ['pipecat-ai[deepgram]==1.14.0'],
    ...DEEPGRAM,
    shows: 'interim and final texts, finalized by Finalize; turns (Flux)',
  },
  {
    name: 'deepgram-node-4-native',
    title: "@deepgram/sdk 4.11.3, Node's own WebSocket",
    program: 'deepgram-node-4.mjs',
    install: ['@deepgram/sdk@4.11.3'],
    ...DEEPGRAM,
    shows: `${DEEPGRAM.shows}; its key is a subprotocol`,
    ...OWN_WEBSOCKET,
  },
  {
    name: 'deepgram-opus-node-5',
    title: '@deepgram/sdk 5.13.0, Opus',
    program: 'deepgram-opus.mjs',
    install: ['@deepgram/sdk@5.13.0'],
    ...DEEPGRAM,
    shows: 'live audio as bare packets (encoding=opus), and in Ogg',
  },
  {
    name: 'deepgram-livekit-node',
    title: '@livekit/agents-plugin-deepgram 1.9.0',
    program: 'deepgram-livekit.mjs',
    install: ['@livekit/agents-plugin-deepgram@1.9.0', ...LIVEKIT_NODE],
    ...DEEPGRAM,
    shows: 'start and end of speech, interim and final texts; turns and preflight (STTv2)',
  },
  {
    name: 'deepgram-speech-node-3',
    title: '@deepgram/sdk 3.13.0',
    program: 'deepgram-speech-4.mjs',
    install: ['@deepgram/sdk@3.13.0'],
    ...DEEPGRAM_SPEECH,
  },
  {
    name: 'deepgram-speech-node-4',
    title: '@deepgram/sdk 4.11.3',
    program: 'deepgram-speech-4.mjs',
    install: ['@deepgram/sdk@4.11.3'],
    ...DEEPGRAM_SPEECH,
  },
  {
    name: 'deepgram-speech-node-5',
    title: '@deepgram/sdk 5.13.0',
    program: 'deepgram-speech-5.mjs',
    install: ['@deepgram/sdk@5.13.0'],
    ...DEEPGRAM_SPEECH,
    shows: `${DEEPGRAM_SPEECH.shows}; a short-lived key`,
  },
  {
    name: 'deepgram-speech-python-3',
    title: 'deepgram-sdk (Python) 3.11.0',
    program: 'deepgram-speech-4.py',
    install: ['deepgram-sdk==3.11.0'],
    ...DEEPGRAM_SPEECH,
  },
  {
    name: 'deepgram-speech-python-4',
    title: 'deepgram-sdk (Python) 4.8.1',
    program: 'deepgram-speech-4.py',
    install: ['deepgram-sdk==4.8.1'],
    ...DEEPGRAM_SPEECH,
  },
  {
    name: 'deepgram-speech-python-7',
    title: 'deepgram-sdk (Python) 7.17.0',
    program: 'deepgram-speech-7.py',
    install: ['deepgram-sdk==7.17.0'],
    ...DEEPGRAM_SPEECH,
    shows: `${DEEPGRAM_SPEECH.shows}; a short-lived key`,
  },
  {
    name: 'deepgram-speech-livekit',
    title: 'livekit-plugins-deepgram (Python) 1.8.9',
    program: 'deepgram-speech-livekit.py',
    install: ['livekit-agents==1.8.9', 'livekit-plugins-deepgram==1.8.9'],
    ...DEEPGRAM_SPEECH,
    shows: 'a recording as text; a text as speech, by REST and by socket, heard again',
  },
  {
    name: 'deepgram-speech-pipecat',
    title: 'pipecat-ai (Python) 1.14.0',
    program: 'deepgram-speech-pipecat.py',
    install: ['pipecat-ai[deepgram]==1.14.0'],
    ...DEEPGRAM_SPEECH,
    shows: 'a text as speech, by REST and by socket, heard again',
  },
  {
    name: 'deepgram-speech-livekit-node',
    title: '@livekit/agents-plugin-deepgram 1.9.0',
    program: 'deepgram-speech-livekit.mjs',
    install: ['@livekit/agents-plugin-deepgram@1.9.0', ...LIVEKIT_NODE],
    ...DEEPGRAM_SPEECH,
    shows: 'a recording as text; a text as speech by socket, heard again',
  },
  {
    name: 'jambonz-speech',
    title: '@jambonz/speech-utils 0.2.27',
    program: 'jambonz-speech.mjs',
    install: ['@jambonz/speech-utils@0.2.27'],
    door: 'jambonz',
    shows: 'synthAudio with a custom vendor: text and SSML as speech, heard again; a refusal',
  },
  {
    name: 'openai-node-5-realtime',
    title: 'openai (Node) 5.23.2',
    install: ['openai@5.23.2', 'ws@8'],
    ...REALTIME_NODE,
  },
  {
    name: 'openai-node-6-realtime',
    title: 'openai (Node) 6.49.0',
    install: ['openai@6.49.0', 'ws@8'],
    ...REALTIME_NODE,
  },
  {
    name: 'openai-node-7-realtime',
    title: 'openai (Node) 7.57.0',
    install: ['openai@7.57.0', 'ws@8'],
    ...REALTIME_NODE,
  },
  {
    name: 'openai-node-7-realtime-native',
    title: "openai (Node) 7.57.0, Node's own WebSocket",
    install: ['openai@7.57.0', 'ws@8'],
    ...REALTIME_NODE,
    shows: `${REALTIME.shows}; its key is a subprotocol`,
    ...OWN_WEBSOCKET,
  },
  {
    name: 'openai-python-realtime',
    title: 'openai (Python) 3.54.0',
    program: 'openai-realtime.py',
    install: ['openai[realtime]==3.54.0'],
    ...REALTIME,
  },
  {
    name: 'agents-node-realtime',
    title: '@openai/agents-realtime 0.20.0',
    program: 'agents-realtime.mjs',
    install: ['@openai/agents-realtime@0.20.0', 'zod@4'],
    ...REALTIME,
  },
  {
    name: 'agents-python-realtime',
    title: 'openai-agents (Python) 0.24.0',
    program: 'agents-realtime.py',
    install: ['openai-agents==0.24.0', 'websockets'],
    ...REALTIME,
  },
  {
    name: 'pipecat-realtime',
    title: 'pipecat 1.14.0',
    program: 'pipecat-realtime.py',
    install: ['pipecat-ai[openai,websocket]==1.14.0'],
    ...REALTIME,
  },
  {
    name: 'livekit-realtime',
    title: 'livekit-agents (Python) 1.8.9',
    program: 'livekit-realtime.py',
    install: ['livekit-agents==1.8.9', 'livekit-plugins-openai==1.8.9'],
    ...REALTIME,
  },
  {
    name: 'openai-node-5-answers',
    title: 'openai (Node) 5.23.2',
    install: ['openai@5.23.2', 'ws@8'],
    ...ANSWERS_NODE,
  },
  {
    name: 'openai-node-6-answers',
    title: 'openai (Node) 6.49.0',
    install: ['openai@6.49.0', 'ws@8'],
    ...ANSWERS_NODE,
  },
  {
    name: 'openai-node-7-answers',
    title: 'openai (Node) 7.57.0',
    install: ['openai@7.57.0', 'ws@8'],
    ...ANSWERS_NODE,
  },
  {
    name: 'openai-python-answers',
    title: 'openai (Python) 3.54.0',
    program: 'openai-answers.py',
    install: ['openai[realtime]==3.54.0'],
    ...ANSWERS,
  },
  {
    name: 'agents-node-answers',
    title: '@openai/agents-realtime 0.20.0',
    program: 'agents-answers.mjs',
    install: ['@openai/agents-realtime@0.20.0', 'zod@4'],
    ...ANSWERS,
  },
  {
    name: 'agents-python-answers',
    title: 'openai-agents (Python) 0.24.0',
    program: 'agents-answers.py',
    install: ['openai-agents==0.24.0', 'websockets'],
    ...ANSWERS,
  },
  {
    name: 'pipecat-answers',
    title: 'pipecat 1.14.0',
    program: 'pipecat-answers.py',
    install: ['pipecat-ai[openai,websocket]==1.14.0'],
    ...ANSWERS,
  },
  {
    name: 'livekit-answers',
    title: 'livekit-agents (Python) 1.8.9',
    program: 'livekit-answers.py',
    install: ['livekit-agents==1.8.9', 'livekit-plugins-openai==1.8.9'],
    ...ANSWERS,
  },
  {
    name: 'livekit-node-answers',
    title: '@livekit/agents-plugin-openai 1.9.0',
    program: 'livekit-answers.mjs',
    install: ['@livekit/agents-plugin-openai@1.9.0', ...LIVEKIT_NODE],
    ...ANSWERS,
  },
];

/** What helps to judge the table: clients that the command does not run. */
export interface ClientNotRun {
  readonly title: string;
  readonly why: string;
}

/** In the order of the page. */
export const CLIENTS_NOT_RUN: readonly ClientNotRun[] = [
  {
    title: "Genesys' AudioHook sample client and compliance suite",
    why: 'in no package registry; run by hand, see [tried](tried.md)',
  },
  { title: "jambonz's feature server", why: 'needs its SIP and media servers; the tests speak its protocol' },
  { title: "LiveKit's plugins for Node", why: 'those for Python are run' },
];
