/** Clients of OpenAI's Realtime API. */
import { type Client, LIVEKIT_NODE, OWN_WEBSOCKET } from './client.ts';

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

/** In the order of the table. */
export const REALTIME_CLIENTS: readonly Client[] = [
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
