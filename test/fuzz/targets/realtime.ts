import assert from 'node:assert/strict';
import { readClientEvent } from '../../../src/clients/realtime/wire/client-events.ts';
import { Conversation, ITEMS_KEPT, readItem, writeItem } from '../../../src/clients/realtime/wire/items.ts';
import { EventWriter, invalidEvent, sessionEvent } from '../../../src/clients/realtime/wire/server-events.ts';
import {
  newSessionConfig,
  updateSessionConfig,
  writeBetaSession,
  writeSession,
} from '../../../src/clients/realtime/wire/session-config.ts';
import { endpointMsOf, prefixMsOf } from '../../../src/clients/realtime/wire/turn-detection.ts';
import type { FuzzTarget } from '../fuzz.ts';

const IDENTITY = { id: 'sess_1', expiresAtS: 1 };
const MESSAGE_MAX_CHARS = 300;

/** Events of a client of OpenAI's Realtime API, one a line, and the sessions that they make. */
export const target: FuzzTarget = {
  name: 'realtime',
  seeds: [
    '{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"server_vad","prefix_padding_ms":' +
      '600,"silence_duration_ms":350,"threshold":0.5},"format":{"type":"audio/pcm","rate":24000},"transcription":' +
      '{"model":"gpt-realtime-whisper","language":"en","keywords":["Trunkline"]}}},"type":"transcription"}}',
    '{"type":"transcription_session.update","session":{"input_audio_format":"g711_ulaw","turn_detection":null}}',
    '{"event_id":"e1","type":"input_audio_buffer.append","audio":"AAAA"}\n{"type":"input_audio_buffer.commit"}',
    '{"type":"session.update","session":{"type":"realtime","output_modalities":["text"],"tools":[{"type":"function",' +
      '"name":"f","parameters":{"type":"object"}}],"tool_choice":{"type":"function","name":"f"},"audio":{"output":' +
      '{"voice":{"id":"v"},"speed":1.5,"format":"pcm16"}},"max_output_tokens":"inf"}}',
    '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text",' +
      '"text":"Hi"},{"type":"input_audio","transcript":null}]}}',
    '{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":"{}"}}',
    '{"type":"conversation.item.truncate","item_id":"item_1","content_index":0,"audio_end_ms":474}',
    '{"type":"response.create","response":{}}',
  ].map((text) => Buffer.from(text)),
  words: [
    '"session":',
    'semantic_vad","eagerness":"low',
    '"type":"audio/pcmu"',
    'null',
    '1e999',
    '__proto__',
    'constructor',
    '[[[[',
    '\\ud800',
    '\n',
    '"item_id":"item_1"',
    'conversation.item.retrieve',
  ],
  run(input) {
    let config = newSessionConfig('realtime', '');
    const conversation = new Conversation();
    for (const [line, text] of Buffer.from(input).toString().split('\n').entries()) {
      const event = readClientEvent(text);
      if (event.type === 'invalid') {
        assert(event.message.length <= MESSAGE_MAX_CHARS);
        JSON.parse(new EventWriter('x', false).write(invalidEvent(event)) ?? '');
      } else if (event.type === 'session.update') {
        config = updateSessionConfig(config, event.session);
      } else if (event.type === 'item.create') {
        const item = readItem(event.item, `item_${line}`);
        if (item !== null) conversation.add(item);
      } else if (event.type === 'item.truncate') {
        assert(Number.isSafeInteger(event.audioEndMs) && event.audioEndMs >= 0);
      }
    }
    assert([8000, 16_000, 24_000].includes(config.inputFormat.rateHz));
    const endpointMs = endpointMsOf(config.turnDetection);
    assert(endpointMs === null || (endpointMs >= 0 && endpointMs <= 10_000));
    assert(prefixMsOf(config.turnDetection) >= 0);
    for (const session of [writeSession(config, IDENTITY), writeBetaSession(config, IDENTITY)])
      JSON.parse(new EventWriter('x', true).write(sessionEvent('session.updated', session)) ?? '');
    assert(conversation.items.length <= ITEMS_KEPT);
    for (const item of conversation.items) JSON.stringify(writeItem(item));
  },
};
