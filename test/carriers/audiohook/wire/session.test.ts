import { beforeEach, describe, expect, it } from 'vitest';
import { AudioHookSession } from '../../../../src/carriers/audiohook/wire/session.ts';

const ID = 'e160e428-53e2-487c-977d-96989bf5c99d';
const NO_UUID = '00000000-0000-0000-0000-000000000000';
const ORGANIZATION = 'd7934305-0972-4844-938e-9060eef73d05';
const STEREO = { type: 'audio', format: 'PCMU', channels: ['external', 'internal'], rate: 8000 };
const EXTERNAL = { ...STEREO, channels: ['external'] };
const INTERNAL = { ...STEREO, channels: ['internal'] };

let session: AudioHookSession;
let sequence: number;

beforeEach(() => {
  sequence = 0;
  session = new AudioHookSession({ streamId: 'ours', organizationId: ORGANIZATION, languages: () => ['en'] });
});

function message(type: string, parameters: object = {}, changes: object = {}): string {
  sequence++;
  const common = { version: '2', id: ID, type, seq: sequence, serverseq: 0, position: 'PT0S', parameters };
  return JSON.stringify({ ...common, ...changes });
}

function open(changes: object = {}): string {
  return message('open', {
    organizationId: ORGANIZATION,
    conversationId: '090eaa2f-72fa-480a-83e0-8667ff89c0ec',
    participant: { id: '883efee8-3d6c-4537-b500-6d7ca4b92fa0', ani: '+15550100', aniName: 'Maria', dnis: '+15550199' },
    media: [INTERNAL, EXTERNAL, STEREO],
    language: 'en-US',
    customConfig: { queue: 'sales', count: 3 },
    ...changes,
  });
}

const replyOf = (text = ''): unknown => JSON.parse(text);

describe('an AudioHook session', () => {
  it('begins a call with both sides, and tells the client which offer it takes', () => {
    const { events, replies } = session.receive(open());
    expect(events).toMatchObject([
      {
        type: 'start',
        start: {
          carrier: 'genesys',
          callId: ID,
          from: '+15550100',
          to: '+15550199',
          tracks: ['inbound', 'outbound'],
          playback: 'none',
          parameters: { language: 'en-US', callerName: 'Maria', queue: 'sales' },
        },
      },
    ]);
    expect(replies.map(replyOf)).toEqual([
      {
        version: '2',
        type: 'opened',
        seq: 1,
        clientseq: 1,
        id: ID,
        parameters: { startPaused: false, media: [STEREO] },
      },
    ]);
  });

  it.each([
    ['the far side', [INTERNAL, EXTERNAL], ['inbound']],
    ['the agent alone', [INTERNAL], ['outbound']],
    ['A-law', [{ ...STEREO, format: 'PCMA' }], ['inbound', 'outbound']],
  ])('takes %s where that is what is offered', (_what, media, tracks) => {
    expect(session.receive(open({ media })).events).toMatchObject([{ start: { tracks } }]);
  });

  it('parts the sides of its audio, and counts its time by it', () => {
    session.receive(open());
    const { events } = session.receive(Uint8Array.from({ length: 320 }, (_, at) => (at % 2 === 0 ? 1 : 2)));
    expect(events).toEqual([
      { type: 'audio', track: 'inbound', bytes: new Uint8Array(160).fill(1), atMs: 0, sequence: 1 },
      { type: 'audio', track: 'outbound', bytes: new Uint8Array(160).fill(2), atMs: 0, sequence: 1 },
    ]);
    expect(session.receive(new Uint8Array(320)).events).toMatchObject([{ atMs: 20, sequence: 2 }, { atMs: 20 }]);
  });

  it('goes on behind audio that was left out, and is held while it is paused', () => {
    session.receive(open());
    session.receive(message('discarded', { start: 'PT0S', discarded: 'PT1.5S' }));
    expect(session.receive(new Uint8Array(320)).events).toMatchObject([{ atMs: 1500 }, { atMs: 1500 }]);
    session.receive(message('discarded', { start: 'PT1.6S', discarded: 'PT0.3S' }));
    expect(session.receive(new Uint8Array(320)).events).toMatchObject([{ atMs: 1820 }, { atMs: 1820 }]);
    expect(session.receive(message('paused')).events).toEqual([{ type: 'state', state: 'held' }]);
    expect(session.receive(message('resumed', { start: 'PT1.84S', discarded: 'PT60S' })).events).toEqual([
      { type: 'state', state: 'live' },
    ]);
    expect(session.receive(new Uint8Array(320)).events).toMatchObject([{ atMs: 1840 }, { atMs: 1840 }]);
  });

  it('answers pings, also before it is open, and changes of the language', () => {
    expect(session.receive(message('ping')).replies.map(replyOf)).toMatchObject([{ type: 'pong', id: ID, seq: 1 }]);
    session.receive(open());
    expect(session.receive(message('ping')).replies.map(replyOf)).toMatchObject([{ type: 'pong', clientseq: 3 }]);
    const { events, replies } = session.receive(message('update', { language: 'de-DE' }));
    expect(events).toEqual([{ type: 'language', language: 'de-DE' }]);
    expect(replies.map(replyOf)).toMatchObject([{ type: 'updated' }]);
  });

  it('says which languages are understood when it is asked', () => {
    const { replies } = session.receive(open({ supportedLanguages: true }));
    expect(replies.map(replyOf)).toMatchObject([{ parameters: { supportedLanguages: ['en-US'] } }]);
  });

  it.each([
    ['the conversation', { conversationId: NO_UUID }],
    ['the participant', { participant: { id: NO_UUID, ani: '', aniName: '', dnis: '' }, media: [] }],
  ])('makes no call of a probe, in which %s is nobody', (_what, changes) => {
    expect(session.receive(open(changes)).events).toEqual([]);
    expect(session.isProbe).toBe(true);
    session.receive(message('close', { reason: 'end' }));
    expect(replyOf(session.closed())).toMatchObject({ type: 'closed', seq: 2 });
  });

  it('tells what was said, and of its words what share of the time they have', () => {
    session.receive(open());
    const caption = { track: 'outbound', startMs: 1200, endMs: 1800, text: 'one two', confidence: 0.9 } as const;
    expect(replyOf(session.transcript({ ...caption, language: 'en' }) ?? '')).toMatchObject({
      type: 'event',
      parameters: {
        entities: [
          {
            type: 'transcript',
            data: {
              id: expect.stringMatching(/^[\da-f-]{36}$/),
              channelId: 1,
              isFinal: true,
              offset: 'PT1.2S',
              duration: 'PT0.6S',
              alternatives: [
                {
                  confidence: 0.9,
                  languages: ['en-US'],
                  interpretations: [
                    {
                      type: 'display',
                      transcript: 'one two',
                      tokens: [
                        { type: 'word', value: 'one', confidence: 0.9, offset: 'PT1.2S', duration: 'PT0.3S' },
                        { type: 'word', value: 'two', confidence: 0.9, offset: 'PT1.5S', duration: 'PT0.3S' },
                      ],
                    },
                  ],
                },
              ],
            },
          },
        ],
      },
    });
  });

  it('goes on where the session before was, with what was missed in between', () => {
    session.receive(open());
    session.receive(new Uint8Array(3200));
    session.receive(message('paused'));
    const next = new AudioHookSession({ streamId: 'next', organizationId: ORGANIZATION, languages: () => ['en'] });
    const continuedSessions = [{ id: ID, serverseq: 1, clientseq: 3 }, { id: 'two words' }, 'x'];
    const [{ events }] = [next.receive(open({ continuedSessions, language: 'de-DE' }))];
    expect(events).toMatchObject([{ start: { references: { continuedSessions: ID } } }]);
    expect(next.continues).toEqual([ID]);
    expect(next.continueFrom(session, 700)).toEqual([
      { type: 'state', state: 'live' },
      { type: 'language', language: 'de-DE' },
    ]);
    expect(next.receive(new Uint8Array(320)).events).toMatchObject([{ atMs: 900, sequence: 2 }, { atMs: 900 }]);
    const caption = { track: 'inbound', text: 'x', startMs: 100, endMs: 1400 } as const;
    expect(replyOf(next.transcript(caption) ?? '')).toMatchObject({
      parameters: { entities: [{ data: { offset: 'PT0S', duration: 'PT0.5S' } }] },
    });
  });

  it.each([
    ['conversation', { conversationId: 'other' }],
    ['sound', { media: [EXTERNAL] }],
  ])('does not go on with another %s', (_what, changes) => {
    session.receive(open());
    const next = new AudioHookSession({ streamId: 'next', organizationId: ORGANIZATION, languages: () => ['en'] });
    next.receive(open(changes));
    expect(next.continueFrom(session, 0)).toBeNull();
  });

  it('says that the client reconnects, and that is no end of the call', () => {
    session.receive(open());
    expect(session.receive(message('close', { reason: 'reconnect' })).events).toMatchObject([{ type: 'ignored' }]);
    expect([session.isClosing, session.isReconnecting]).toEqual([true, true]);
  });

  it('has nothing to tell of a side that is not streamed', () => {
    session.receive(open({ media: [EXTERNAL] }));
    const caption = { track: 'outbound', text: 'x', startMs: 0, endMs: 1 } as const;
    expect(session.transcript(caption)).toBeNull();
  });

  it('tells of so many holds and languages and no more, and never leaves a call held', () => {
    session.receive(open());
    const told = Array.from({ length: 5000 }, () => [
      ...session.receive(message('paused')).events,
      ...session.receive(message('paused')).events,
      ...session.receive(message('update', { language: 'de-DE' })).events,
      ...session.receive(message('resumed')).events,
    ]).flat();
    const states = told.flatMap((event) => (event.type === 'state' ? [event.state] : []));
    expect(told.filter(({ type }) => type !== 'ignored').length).toBeLessThan(2000);
    expect(states.filter((state) => state === 'held').length).toBeGreaterThan(100);
    expect(states.at(-1)).toBe('live');
  });

  it.each<[string, () => unknown]>([
    ['text that is no JSON', () => session.receive('{')],
    ['another version', () => session.receive(message('open', {}, { version: '3' }))],
    ['no sequence number', () => session.receive(message('open', {}, { seq: 'x' }))],
    ['audio in odd pieces', () => [session.receive(open()), session.receive(new Uint8Array(3))]],
    [
      'a message of another session',
      () => [session.receive(open()), session.receive(message('ping', {}, { id: 'x' }))],
    ],
    ['messages before it is open', () => session.receive(message('close'))],
    [
      'a language of any length',
      () => [session.receive(open()), session.receive(message('update', { language: 'x'.repeat(41) }))],
    ],
    ['no durations', () => [session.receive(open()), session.receive(message('discarded', { start: 1 }))]],
  ])('refuses %s', (_what, receive) => {
    expect(receive).toThrow(expect.objectContaining({ code: 'message_malformed' }));
  });

  it('refuses what it cannot take: other codecs, a second open, another organization', () => {
    expect(() => session.receive(open({ media: [{ ...STEREO, format: 'L16' }] }))).toThrow(
      expect.objectContaining({ code: 'codec_unsupported' }),
    );
    expect(() => session.receive(open({ organizationId: NO_UUID }))).toThrow(
      expect.objectContaining({ code: 'credentials_invalid' }),
    );
    session.receive(open());
    expect(() => session.receive(open())).toThrow(expect.objectContaining({ code: 'start_repeated' }));
  });
});
