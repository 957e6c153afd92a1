import { expect, it } from 'vitest';
import { openAiUrl } from '../../../src/clients/azure/wire/paths.ts';

it.each([
  ['/openai/deployments/my-whisper/audio/transcriptions?api-version=2024-10-21', '/v1/audio/transcriptions'],
  ['/openai/deployments/w/audio/translations', '/v1/audio/translations'],
  ['/openai/deployments/tts/audio/speech?api-version=2025-03-01-preview', '/v1/audio/speech'],
  ['/openai/realtime?api-version=2024-10-01-preview&deployment=gpt%204o', '/v1/realtime?model=gpt+4o'],
  ['/openai/realtime?deployment=a&model=b&intent=transcription', '/v1/realtime?model=b&intent=transcription'],
  ['/openai/v1/audio/speech?api-version=preview', '/v1/audio/speech'],
  ['/openai/v1/realtime?model=m', '/v1/realtime?model=m'],
  ['/openai/models', '/v1/models'],
])('Azure’s %s is our %s', (azure, ours) => {
  expect(openAiUrl(azure)).toBe(ours);
});

it.each([
  '/v1/audio/speech',
  '/openai',
  '/openai/deployments/a/chat/completions',
  '/openai/deployments/a/b/audio/speech',
])('leaves %s as it is', (url) => {
  expect(openAiUrl(url)).toBe(null);
});
