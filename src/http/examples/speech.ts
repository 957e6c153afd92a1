/** Examples of texts that become sound, of voices and of models. */
import type { Examples } from './example.ts';

const input = 'Your parcel arrives tomorrow.';
const recogniser = {
  id: 'moonshine',
  object: 'model',
  created: 1793007000,
  owned_by: 'trunkline',
  reads: 'everything',
  languages: ['en'],
  abilities: ['words'],
  licence: 'MIT',
};
const prompt = {
  id: '5f0c0a9b7b0d4a0e8f7f2a6e4c1b9d3a',
  source: 'recorded',
  text: 'Welcome to Example.',
  voice: 'hibari',
  speed: null,
  codec: null,
  durationMs: 1900,
  bytes: 30400,
  madeAt: '2026-11-20T07:00:00.000Z',
  usedAt: '2026-11-24T09:30:00.000Z',
};

const deepgramVoice = {
  name: 'hibari',
  canonical_name: 'hibari',
  architecture: 'trunkline',
  languages: ['en-US'],
  version: '1',
  uuid: '6d2c9a7e-3f41-5b8d-9c60-1e7a4f2b8d35',
};

const deepgramRecogniser = {
  ...deepgramVoice,
  name: 'moonshine-tiny',
  canonical_name: 'moonshine-tiny',
  languages: ['en'],
  uuid: '0b8f5d1c-7a2e-5c94-8d13-5f6e9a3c7b21',
  batch: true,
  streaming: true,
  formatted_output: true,
};

/** By `operationId`. */
export const speechExamples: Examples = {
  createSpeech: { request: { model: 'tts-1', input, voice: 'hibari', response_format: 'wav' } },
  createClonedSpeech: { form: { file: 'voice.wav', input } },
  streamSpeech: {
    request: { input, voice: 'hibari' },
    response: `data: ${JSON.stringify({ type: 'speech.audio.delta', audio: 'UklGRg…' })}\n\n`,
  },
  streamSpeechSamples: { request: { input, voice: 'hibari', sample_rate: 8000 } },
  createDeepgramSpeech: { request: { text: input } },
  createDeepgramFluxSpeech: { request: { text: input } },
  createJambonzSpeech: { request: { text: input, type: 'text', voice: 'hibari', language: 'en-US' } },
  listVoices: {
    response: {
      data: [
        {
          name: 'hibari',
          engine: 'hibari',
          language: 'en-US',
          rateHz: 24000,
          licence: 'MIT',
          cost: 0.1,
          live: true,
          default: true,
        },
      ],
    },
  },
  listSpeechVoices: { response: { voices: [{ id: 'alloy', name: 'alloy (hibari)', language: 'en-US' }] } },
  listSpeechModels: { response: { models: [{ id: 'tts-1', name: 'tts-1' }] } },
  getSpeechInfo: { response: { stream_type: 'sentence', voices: ['hibari', 'alloy'], model_id: 'hibari' } },
  listModels: { response: { object: 'list', data: [recogniser], stt: [deepgramRecogniser], tts: [deepgramVoice] } },
  getModel: { response: recogniser },
  listPrompts: { response: { data: [prompt], next: null } },
  createPrompt: { form: { file: 'welcome.wav', text: 'Welcome to Example.', voice: 'hibari' }, response: prompt },
  clearPrompts: { response: { cleared: 12 } },
  clearSpeechCache: { response: { audio_cleared: 12, voice_cleared: 0 } },
};
