import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AsteriskDialect } from '../../../../src/carriers/asterisk/wire/chan-websocket.ts';
import type { CarrierEvent } from '../../../../src/protocols/dialect.ts';
import { codeOf } from '../../../helpers/codes.ts';
import { summary } from '../../summary.ts';
import { readRecording, readTable, recordingNames, replay } from './asterisk-recordings.ts';

const PLAIN =
  'MEDIA_START connection_id:trunkline channel:WebSocket/trunkline/0x7fe7 channel_id:1795240043.2 ' +
  'format:ulaw optimal_frame_size:160 ptime:20';

function json(fields: object = {}, variables: Record<string, string> = {}): string {
  return JSON.stringify({
    event: 'MEDIA_START',
    connection_id: 'trunkline',
    channel: 'WebSocket/trunkline/0x7fe7',
    channel_id: '1795240043.2',
    format: 'slin16',
    optimal_frame_size: 640,
    ptime: 20,
    channel_variables: {
      DIALEDPEERNUMBER: 'trunkline/c(slin16)f(json)',
      MEDIA_WEBSOCKET_CONNECTION_ID: 'trunkline',
      ...variables,
    },
    ...fields,
  });
}

function started(start = PLAIN): AsteriskDialect {
  const dialect = new AsteriskDialect();
  dialect.receive(start);
  return dialect;
}

function startOf(message: string) {
  const event = new AsteriskDialect().receive(message);
  if (event.type !== 'start') throw new Error(`got ${event.type}, expected start`);
  return event.start;
}

describe('what a real Asterisk said', () => {
  it('is all in the table', () => {
    expect(readTable().map(([name]) => name)).toEqual(recordingNames());
  });

  it.each(readTable())('%s → %s', (name, gives) => {
    expect(summary(replay(name))).toBe(gives);
  });

  it.each(['s3-sip-ptime-10', 's3-sip-ptime-60', 'd-codec-unspecified', 's3w-sip-ptime-30-slin16'])(
    '%s comes in its own sizes',
    (name) => {
      const sizes = replay(`${name}.jsonl`).flatMap((event) =>
        'type' in event && event.type === 'audio' ? [event.bytes.length] : [],
      );
      const recorded = readRecording(`${name}.jsonl`).flatMap(({ message }) =>
        typeof message === 'string' ? [] : [message.length],
      );
      expect(sizes).toEqual(recorded);
    },
  );

  it('tells the keys of d-dtmf-plain', () => {
    const digits = replay('d-dtmf-plain.jsonl').flatMap((event) =>
      'type' in event && event.type === 'dtmf' ? [event.digit] : [],
    );
    expect(digits.join('')).toBe('159*0#D');
  });
});

describe('MEDIA_START', () => {
  it('names the call in plain text, where nothing says who calls', () => {
    expect(startOf(PLAIN)).toEqual({
      carrier: 'asterisk',
      callId: '1795240043.2',
      streamId: 'WebSocket/trunkline/0x7fe7',
      from: null,
      to: null,
      tracks: ['inbound'],
      codec: { name: 'mulaw', rateHz: 8000, channels: 1, bytesPerSample: 1 },
      playback: 'buffered',
      parameters: {},
    });
  });

  it('of a release without channel_id is named by its channel', () => {
    expect(startOf(PLAIN.replace(/channel_id:\S+ /, '')).callId).toBe('0x7fe7');
  });

  it('takes who calls and how from inherited variables, and nothing else', () => {
    const start = startOf(
      json(
        {},
        {
          __TRUNKLINE_FROM: '+15550100',
          _TRUNKLINE_TO: '600',
          TRUNKLINE_BARGE_IN: 'off',
          __TRUNKLINE_ORDER_ID: '7',
          __SECRET: 'x',
        },
      ),
    );
    expect(start).toMatchObject({ from: '+15550100', to: '600' });
    expect({ ...start.parameters }).toEqual({ from: '+15550100', to: '600', bargeIn: 'off', orderId: '7' });
  });

  it.each([
    ['ulaw', 'mulaw', 8000],
    ['alaw', 'alaw', 8000],
    ['slin', 'pcm16', 8000],
    ...([12, 16, 24, 32, 48, 96, 192] as const).map((khz) => [`slin${khz}`, 'pcm16', khz * 1000] as const),
    ['slin44', 'pcm16', 44_100],
  ] as const)('knows the codec %s', (format, name, rateHz) => {
    expect(startOf(json({ format })).codec).toMatchObject({ name, rateHz });
  });

  it.each(['g722', 'opus', 'slin17', '', 'ulaw16'])('refuses the codec "%s"', (format) => {
    expect(codeOf(() => startOf(json({ format })))).toBe('codec_unsupported');
  });

  it.each([
    ['c(slin16)f(json)d(in)', 'none'],
    ['c(slin16)d(out)', 'buffered'],
    ['c(ulaw)f(json)p', 'paced'],
    ['f(plain-text)c(ulaw)n', 'buffered'],
    ['v(path=x)c(ulaw)', 'buffered'],
  ])('with the options %s our sound is %s', (options, playback) => {
    expect(startOf(json({}, { DIALEDPEERNUMBER: `trunkline/${options}` })).playback).toBe(playback);
  });

  it.each([
    ['no channel', JSON.stringify({ event: 'MEDIA_START', format: 'ulaw' }), 'message_malformed'],
    ['an endless channel', json({ channel: 'x'.repeat(129) }), 'message_malformed'],
    ['half a JSON', '{"event":', 'message_malformed'],
    ['nothing', '', 'message_malformed'],
  ])('with %s is %s', (_what, message, code) => {
    expect(codeOf(() => startOf(message))).toBe(code);
  });

  it('may come once', () => {
    expect(codeOf(() => started().receive(PLAIN))).toBe('start_repeated');
  });
});

describe('media', () => {
  it('have no time of their own; a lost frame is a number left out', () => {
    const dialect = started();
    const frame = new Uint8Array(160);
    const events = [frame, new Uint8Array(0), frame].map((message) => dialect.receive(message));
    expect(events).toEqual([
      { type: 'audio', track: 'inbound', bytes: frame, atMs: null, sequence: 1 },
      { type: 'ignored', what: 'lost_frame' },
      { type: 'audio', track: 'inbound', bytes: frame, atMs: null, sequence: 3 },
    ] satisfies CarrierEvent[]);
  });

  it('before MEDIA_START are numbered all the same, and a key is told', () => {
    const dialect = new AsteriskDialect();
    const frame = new Uint8Array(160);
    expect([frame, 'DTMF_END digit:5 channel_id:1', 'MEDIA_XON channel_id:1'].map((it) => dialect.receive(it))).toEqual(
      [
        { type: 'audio', track: 'inbound', bytes: frame, atMs: null, sequence: 1 },
        { type: 'dtmf', track: 'inbound', digit: '5' },
        { type: 'ignored', what: 'before_start' },
      ] satisfies CarrierEvent[],
    );
    dialect.receive('MEDIA_START channel:WebSocket/lab/0x7 channel_id:1.2 format:ulaw optimal_frame_size:160 ptime:20');
    expect(dialect.receive(frame)).toMatchObject({ type: 'audio', sequence: 2 });
  });
});

describe('what we send', () => {
  it('is in the format of the channel, and marks are what all its releases have', () => {
    const plain = started();
    const inJson = started(json());
    const sent = (dialect: AsteriskDialect) => [
      dialect.format({ type: 'mark', name: 's1' }),
      dialect.format({ type: 'clear' }),
      dialect.signal('answer'),
      dialect.signal('hangup'),
      dialect.signal('probe'),
    ];
    expect(sent(plain)).toEqual([
      'STOP_MEDIA_BUFFERING s1',
      ['REPORT_QUEUE_DRAINED', 'FLUSH_MEDIA'],
      'ANSWER',
      'HANGUP',
      'GET_STATUS',
    ]);
    expect(sent(inJson)).toEqual([
      '{"command":"MARK_MEDIA","correlation_id":"s1"}',
      ['{"command":"REPORT_QUEUE_DRAINED"}', '{"command":"FLUSH_MEDIA"}'],
      '{"command":"ANSWER"}',
      '{"command":"HANGUP"}',
      '{"command":"GET_STATUS"}',
    ]);
  });

  it('comes back as the mark that it was', () => {
    expect(started().receive('MEDIA_BUFFERING_COMPLETED s1')).toEqual({ type: 'mark', name: 's1' });
    expect(started(json()).receive('{"event":"MEDIA_MARK_PROCESSED","channel_id":"1","correlation_id":"s1"}')).toEqual({
      type: 'mark',
      name: 's1',
    });
  });

  it('is sound as it is, in binary', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    expect(started().format({ type: 'audio', bytes })).toBe(bytes);
  });

  it('is never a command of more than 128 bytes', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200, unit: 'grapheme' }), fc.boolean(), (name, isPlain) => {
        const dialect = started(isPlain ? PLAIN : json());
        let message: unknown = '';
        if (codeOf(() => (message = dialect.format({ type: 'mark', name }))) === 'none') {
          expect(Buffer.byteLength(String(message))).toBeLessThanOrEqual(128);
        }
      }),
    );
  });

  it('is nothing before MEDIA_START, and no sound where Asterisk throws it away', () => {
    expect(codeOf(() => new AsteriskDialect().format({ type: 'clear' }))).toBe('invalid_request');
    const listening = started(json({}, { DIALEDPEERNUMBER: 'trunkline/f(json)d(in)' }));
    expect(codeOf(() => listening.format({ type: 'audio', bytes: new Uint8Array(640) }))).toBe('invalid_request');
  });
});
