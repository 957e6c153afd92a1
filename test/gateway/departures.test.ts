import { expect, it } from 'vitest';
import { readSettings } from '../../src/foundation/settings/config.ts';
import { findDepartures } from '../../src/gateway/departures.ts';

it('tells every server that speech or words go to, and whether it is another machine', () => {
  const settings = readSettings({
    ASR_URL: 'https://gpu.example.com/v1?key=secret;weight=3,http://127.0.0.1:8000/inference',
    TTS_URL: 'http://10.0.0.5:8880/v1;voices=heart',
    HINTS_BASE_URL: 'http://[::1]:11434/v1',
    HINTS_MODEL: 'small',
  });
  expect(findDepartures(settings)).toEqual([
    { what: 'hints', to: 'http://[::1]:11434', leavesMachine: false },
    { what: 'recognition', to: 'https://gpu.example.com', leavesMachine: true },
    { what: 'recognition', to: 'http://127.0.0.1:8000', leavesMachine: false },
    { what: 'synthesis', to: 'http://10.0.0.5:8880', leavesMachine: true },
  ]);
});

it('tells of the language model that answers in Realtime sessions, unless an app does', () => {
  const environment = { LLM_BASE_URL: 'https://llm.example.com/v1', LLM_MODEL: 'small' };
  const answers = (more: Readonly<Record<string, string>>) =>
    findDepartures(readSettings({ ...environment, ...more })).filter(({ what }) => what === 'answers');
  expect(answers({})).toEqual([{ what: 'answers', to: 'https://llm.example.com', leavesMachine: true }]);
  expect(answers({ APP_URL: 'ws://127.0.0.1:9000/app' })).toEqual([]);
  expect(answers({ LLM_MODEL: '' })).toEqual([]);
});

it('tells none where there are none', () => {
  expect(findDepartures(readSettings({}))).toEqual([]);
});
