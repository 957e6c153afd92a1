/** Examples of recordings that become text, one by one and as batches. */
import type { Examples } from './example.ts';

const text = 'My order has not arrived.';
const upload = { file: 'call.wav', language: 'en', response_format: 'json' };
const transcription = { text, language: 'english', usage: { type: 'duration', seconds: 4 } };
const counts = { total: 2, waiting: 0, running: 1, done: 1, failed: 0, cancelled: 0 };
const batch = {
  id: 'b-20261124-7f3a91c2',
  state: 'running',
  createdAt: '2026-11-24T09:30:00.000Z',
  endedAt: null,
  expiresAt: null,
  progress: 0.62,
  counts,
  webhook: { state: 'waiting', attempts: 0 },
};
const done = { number: 0, name: 'a.wav', state: 'done', progress: 1, durationMs: 184000, error: null };
const running = { number: 1, name: 'b.wav', state: 'running', progress: 0.24, durationMs: 96000, error: null };
const options = { channels: 'split', language: 'en', webhookUrl: 'https://app.example.com/batches' };
const { progress: _, ...line } = done;

/** By `operationId`. */
export const recordingExamples: Examples = {
  createTranscription: { form: upload, response: transcription },
  createTranslation: {
    form: { ...upload, language: 'de', target_language: 'en' },
    response: transcription,
  },
  streamTranscription: {
    form: { file: 'call.wav', language: 'en' },
    response: `data: ${JSON.stringify({ text })}\n\n`,
  },
  createSubtitles: {
    form: { file: 'call.wav', language: 'en', max_line_chars: '42' },
    response: `1\n00:00:01,320 --> 00:00:03,180\n${text}\n`,
  },
  createDeepgramTranscription: {
    request: { url: 'https://recordings.example.com/call.wav' },
    response: {
      metadata: { request_id: '0f3d3c1e7c9c', created: '2026-11-24T09:30:00.000Z', duration: 3.6, channels: 1 },
      results: { channels: [{ alternatives: [{ transcript: text, confidence: 0.94, words: [] }] }] },
    },
  },
  listBatches: { response: { data: [batch], next: null } },
  createBatch: {
    request: { ...options, hotWords: ['Trunkline'], inputs: [{ url: 'https://recordings.example.com/a.wav' }] },
    form: { ...options, hotWords: 'Trunkline, Twilio', file: ['a.wav', 'b.wav'] },
    response: batch,
  },
  getBatch: { response: { ...batch, files: [done, running] } },
  deleteBatch: { response: { ...batch, state: 'cancelled', endedAt: '2026-11-24T09:40:00.000Z' } },
  streamBatchEvents: { response: `event: file\ndata: ${JSON.stringify(running)}\n\n` },
  getBatchFile: { response: transcription },
  getBatchResults: { response: `${JSON.stringify({ ...line, transcript: transcription })}\n` },
};
