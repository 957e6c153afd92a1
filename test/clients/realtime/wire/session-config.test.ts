import { describe, expect, it } from 'vitest';
import {
  newSessionConfig,
  updateSessionConfig,
  writeBetaSession,
  writeSession,
} from '../../../../src/clients/realtime/wire/session-config.ts';
import { endpointMsOf } from '../../../../src/clients/realtime/wire/turn-detection.ts';

const IDENTITY = { id: 'sess_1', expiresAtS: 1_800_000_000 };
const fresh = newSessionConfig('transcription', '');
const input = (fields: object) => ({ audio: { input: fields } });

describe('the configuration of a Realtime session', () => {
  it('is complete before any update: PCM at 24 kHz, ended by silence', () => {
    expect(writeSession(fresh, IDENTITY)).toEqual({
      type: 'transcription',
      object: 'realtime.transcription_session',
      id: 'sess_1',
      expires_at: 1_800_000_000,
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { model: 'gpt-4o-transcribe', language: null, prompt: '' },
          noise_reduction: null,
          turn_detection: {
            type: 'server_vad',
            threshold: 0.5,
            prefix_padding_ms: 300,
            silence_duration_ms: 500,
          },
        },
      },
      include: [],
    });
  });

  it('takes what LiveKit sends', () => {
    const config = updateSessionConfig(fresh, {
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { model: 'gpt-4o-mini-transcribe', language: 'en' },
          turn_detection: { type: 'server_vad', prefix_padding_ms: 600, silence_duration_ms: 350, threshold: 0.5 },
        },
      },
      type: 'transcription',
    });
    expect(config.transcription).toMatchObject({ model: 'gpt-4o-mini-transcribe', language: 'en' });
    expect(endpointMsOf(config.turnDetection)).toBe(350);
  });

  it.each([
    [{ type: 'audio/pcm' }, 'linear16', 24_000],
    [{ type: 'audio/pcm', rate: 8000 }, 'linear16', 8000],
    [{ type: 'audio/pcm', rate: 16_000 }, 'linear16', 16_000],
    [{ type: 'audio/pcmu' }, 'mulaw', 8000],
    [{ type: 'audio/pcma', rate: 8000 }, 'alaw', 8000],
    ['pcm16', 'linear16', 24_000],
    ['g711_ulaw', 'mulaw', 8000],
    ['g711_alaw', 'alaw', 8000],
  ])('reads the format %j', (format, encoding, rateHz) => {
    expect(updateSessionConfig(fresh, input({ format })).inputFormat).toEqual({ encoding, rateHz });
    expect(updateSessionConfig(fresh, { input_audio_format: format }).inputFormat).toEqual({ encoding, rateHz });
  });

  it('stays what it was where an update asks for what we do not have, and tells so', () => {
    const config = updateSessionConfig(
      fresh,
      input({
        format: { type: 'audio/pcm', rate: 44_100 },
        turn_detection: { type: 'by_magic' },
        noise_reduction: { type: 'near_field' },
        transcription: 'whisper',
      }),
    );
    expect(writeSession(config, IDENTITY)).toEqual(writeSession(fresh, IDENTITY));
  });

  it.each([
    ['high', 300],
    ['auto', 500],
    ['medium', 500],
    ['low', 900],
  ])('ends at less silence the more eager it is: %s', (eagerness, silenceMs) => {
    const detection = updateSessionConfig(
      fresh,
      input({ turn_detection: { type: 'semantic_vad', eagerness } }),
    ).turnDetection;
    expect(endpointMsOf(detection)).toBe(silenceMs);
  });

  it('tells null apart from a field that is missing', () => {
    const manual = updateSessionConfig(fresh, input({ turn_detection: null }));
    expect(manual.turnDetection).toBeNull();
    expect(updateSessionConfig(manual, input({ format: 'pcm16' })).turnDetection).toBeNull();
    expect(updateSessionConfig(manual, { turn_detection: { type: 'server_vad' } }).turnDetection).toMatchObject({
      silenceMs: 500,
    });
    expect(updateSessionConfig(fresh, input({ transcription: null })).transcription).toBeNull();
  });

  it('becomes a transcription session by an update, also one with a model in its address', () => {
    const realtime = newSessionConfig('realtime', 'gpt-realtime');
    expect(writeSession(realtime, IDENTITY)).toMatchObject({ object: 'realtime.session', model: 'gpt-realtime' });
    const transcription = updateSessionConfig(realtime, { type: 'transcription' });
    expect(writeSession(transcription, IDENTITY)).toMatchObject({ object: 'realtime.transcription_session' });
  });

  it('passes tools on as they came', () => {
    const tools = [{ type: 'function', name: 'f', description: 'd', parameters: { type: 'object', properties: {} } }];
    const config = updateSessionConfig(newSessionConfig('realtime', ''), {
      tools: [...tools, { type: 'mcp', server_label: 's' }, { type: 'function' }, 7],
      tool_choice: { type: 'function', name: 'f' },
      audio: { output: { voice: { id: 'kokoro:af_heart' }, speed: 9, format: { type: 'audio/pcmu' } } },
      output_modalities: ['text'],
      max_output_tokens: 100,
    });
    expect(writeSession(config, IDENTITY)).toMatchObject({
      tools,
      tool_choice: { type: 'function', name: 'f' },
      output_modalities: ['text'],
      max_output_tokens: 100,
      audio: { output: { voice: 'kokoro:af_heart', speed: 4, format: { type: 'audio/pcmu' } } },
    });
  });

  it('is flat for beta clients', () => {
    const config = updateSessionConfig(fresh, { input_audio_format: 'g711_alaw', turn_detection: null });
    expect(writeBetaSession(config, IDENTITY)).toMatchObject({
      input_audio_format: 'g711_alaw',
      turn_detection: null,
      input_audio_transcription: { model: 'gpt-4o-transcribe' },
    });
    expect(writeBetaSession(newSessionConfig('realtime', 'm'), IDENTITY)).toMatchObject({
      modalities: ['audio', 'text'],
      output_audio_format: 'pcm16',
      model: 'm',
    });
  });
});
