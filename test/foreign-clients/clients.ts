/** All rows of the table, and who is not in it. */
import { type Client, LIVEKIT_NODE } from './client.ts';
import { DEEPGRAM_CLIENTS } from './deepgram-clients.ts';
import { REALTIME_CLIENTS } from './realtime-clients.ts';

const OPENAI_REST = {
  program: 'openai-rest.mjs',
  door: 'OpenAI audio',
  shows: 'a recording as text, as a stream of deltas, with words; a text as speech',
} as const;

const TRANSCRIBE = {
  door: 'Qwen3-ASR socket',
  shows: 'live audio as running text, and its finals',
} as const;

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
  {
    name: 'go-openai',
    title: 'go-openai (Go) 1.43.0',
    ...OPENAI_REST,
    program: 'openai-rest.go',
    install: ['github.com/sashabaranov/go-openai@v1.43.0'],
    shows: 'a recording as text, with words; a text as speech, heard again; a refusal',
  },
  {
    name: 'wyoming-openai',
    title: 'wyoming-openai (Python) 0.8.0',
    ...OPENAI_REST,
    program: 'wyoming-openai.py',
    python: 'python3.12',
    install: ['wyoming-openai==0.8.0'],
    shows: 'what Home Assistant does through it: a recording as text; a text as speech, heard again',
  },
  { name: 'ws-transcribe', title: 'ws 8.18.3', program: 'ws-transcribe.mjs', install: ['ws@8.18.3'], ...TRANSCRIBE },
  ...DEEPGRAM_CLIENTS,
  {
    name: 'deepgram-go-3',
    title: 'deepgram-go-sdk (Go) 3.5.0',
    program: 'deepgram.go',
    install: ['github.com/deepgram/deepgram-go-sdk/v3@v3.5.0'],
    door: 'Deepgram live',
    shows: 'a recording and live audio as text, with interim results; a text as speech, heard again; a refusal',
  },
  {
    name: 'deepctl',
    title: 'deepctl (Python) 0.4.0',
    program: 'deepctl.py',
    python: 'python3.12',
    install: ['deepctl==0.4.0'],
    door: 'Deepgram files and speech',
    shows: 'the command `listen`: a recording as text; a wrong key',
  },
  ...REALTIME_CLIENTS,
  {
    name: 'jambonz-speech',
    title: '@jambonz/speech-utils 0.2.27',
    program: 'jambonz-speech.mjs',
    install: ['@jambonz/speech-utils@0.2.27'],
    door: 'jambonz',
    shows: 'synthAudio with a custom vendor: text and SSML as speech, heard again; a refusal',
  },
  {
    name: 'browser',
    title: 'Chromium (playwright-core 1.65.1 drives it)',
    program: 'browser.mjs',
    install: ['playwright-core@1.65.1'],
    door: 'Browsers',
    shows: 'its own WebSocket, with the key as a subprotocol: Deepgram live, OpenAI Realtime, refusals',
  },
  {
    name: 'browser-recorder',
    title: 'Chromium (playwright-core 1.65.1 drives it), MediaRecorder',
    program: 'browser-recorder.mjs',
    install: ['playwright-core@1.65.1'],
    door: 'Browsers',
    shows: 'what it records of the microphone (WebM with Opus), as live audio of Deepgram',
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
    title: "Twilio's speech assistants for OpenAI Realtime, OpenAI's Twilio demo",
    why: 'in no package registry, and their address is fixed; run by hand, see [tried](tried.md)',
  },
  {
    title: "Genesys' AudioHook sample client and compliance suite",
    why: 'in no package registry; run by hand, see [tried](tried.md)',
  },
  {
    title: "jambonz's feature server and FreeSWITCH modules",
    why: 'need its SIP and media servers, and are in no registry; the tests speak their protocol',
  },
  {
    title: '@jambonz/node-client, @jambonz/sdk and other packages of jambonz',
    why: 'speak with jambonz itself, none with a speech vendor',
  },
  { title: '@ai-sdk/deepgram (Vercel)', why: 'has no setting for the address' },
  {
    title: '@livekit/agents-plugin-deepgram, speech by REST',
    why: 'asks for https at port 443 alone, whatever address it is given; its socket is run',
  },
  { title: '@livekit/agents-plugin-openai 2.0.0', why: 'needs @livekit/agents 1.1.0; 1.9.0 is run' },
];
