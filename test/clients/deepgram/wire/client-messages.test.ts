import { describe, expect, it } from 'vitest';
import { readClientMessage } from '../../../../src/clients/deepgram/wire/client-messages.ts';

describe('messages of Deepgram clients', () => {
  it.each([
    ['{"type":"KeepAlive"}', { type: 'KeepAlive' }],
    ['{"type": "CloseStream"}', { type: 'CloseStream' }],
    ['{"type":"Finalize"}', { type: 'Finalize', channel: null }],
    ['{"type":"Finalize","channel":1}', { type: 'Finalize', channel: 1 }],
    ['{"type":"Finalize","channel":-1}', { type: 'Finalize', channel: null }],
    [
      '{"type":"Configure","keyterm":["Trunkline"," "],"features":{"punctuate":true}}',
      { type: 'Configure', hotWords: ['Trunkline'], eagerThreshold: null, refused: ['punctuate'] },
    ],
    [
      '{"type":"Configure","thresholds":{"eager_eot_threshold":0.4}}',
      { type: 'Configure', hotWords: null, eagerThreshold: 0.4, refused: [] },
    ],
    ['{"type":"Speak","text":"what they say"}', { type: 'other', name: 'Speak' }],
    ['{}', { type: 'other', name: '' }],
  ])('reads %s', (text, message) => {
    expect(readClientMessage(text)).toEqual(message);
  });

  it.each(['', 'CloseStream', '[]', 'null', '{"type"'])('refuses %j without repeating it', (text) => {
    expect(() => readClientMessage(text)).toThrow(/expected (?:one|a) JSON object/);
  });
});
