/** What unchanged clients need in each message: without one of these fields some of them lose the message, or die. */
import { describe, expect, it } from 'vitest';
import { FluxAnswers } from '../../../../src/clients/deepgram/wire/flux-answers.ts';
import { ListenAnswers } from '../../../../src/clients/deepgram/wire/listen-answers.ts';
import { configuredOf, metadataOf } from '../../../../src/clients/deepgram/wire/messages.ts';

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  Results: [
    'type',
    'channel_index.0',
    'channel_index.1',
    'duration',
    'start',
    'is_final',
    'speech_final',
    'from_finalize',
    'channel.alternatives.0.transcript',
    'channel.alternatives.0.confidence',
    'channel.alternatives.0.words',
    'metadata.request_id',
    'metadata.model_uuid',
    'metadata.model_info.name',
    'metadata.model_info.version',
    'metadata.model_info.arch',
  ],
  SpeechStarted: ['type', 'channel.0', 'channel.1', 'timestamp'],
  UtteranceEnd: ['type', 'channel.0', 'channel.1', 'last_word_end'],
  Metadata: ['type', 'transaction_key', 'request_id', 'sha256', 'created', 'duration', 'channels'],
  ConfigureSuccess: ['type', 'request_id'],
  ConfigureFailure: ['type', 'request_id', 'code', 'description'],
  Connected: ['type', 'request_id', 'sequence_id'],
  TurnInfo: [
    'type',
    'request_id',
    'sequence_id',
    'event',
    'turn_index',
    'audio_window_start',
    'audio_window_end',
    'transcript',
    'words',
    'end_of_turn_confidence',
  ],
};
const REQUIRED_OF_WORDS = ['word', 'start', 'end', 'confidence'];

type Message = Readonly<Record<string, unknown>> & { readonly type: string };

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);
}

/** The fields of `message` that are missing or null. */
function missing(message: Message): string[] {
  const fields = REQUIRED[message.type] ?? [`no such type: ${message.type}`];
  const words = (valueAt(message, 'channel.alternatives.0.words') ?? message['words'] ?? []) as unknown[];
  const ofWords = words.flatMap((word, at) =>
    REQUIRED_OF_WORDS.filter((name) => valueAt(word, name) === undefined).map((name) => `words.${at}.${name}`),
  );
  return [
    ...fields.filter((path) => valueAt(message, path) === undefined || valueAt(message, path) === null),
    ...ofWords,
  ];
}

/** `message` as JSON without the field at `path`. */
function without(message: Message, path: string): Message {
  const copy = JSON.parse(JSON.stringify(message)) as Message;
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.length === 0 ? copy : valueAt(copy, names.join('.'));
  delete (parent as Record<string, unknown>)[last];
  return copy;
}

/** At least one message of each type and kind, as they go over the wire. */
function everyMessage(): Message[] {
  const model = { name: 'moonshine-tiny', version: '1', arch: 'moonshine' };
  const facts = { requestId: 'id-1', model, channels: 1, isPunctuated: true };
  const listen = new ListenAnswers({
    facts,
    interimResults: true,
    vadEvents: true,
    endpointMs: 400,
    utteranceEndMs: 1000,
  });
  const flux = new FluxAnswers({ requestId: 'id-1', eagerThreshold: 0.4, threshold: 0.7, isMultilingual: false });
  const said = { text: 'Hi.', final: false, startMs: 0, endMs: 500, words: [{ text: 'Hi.', startMs: 0, endMs: 500 }] };
  const settled = { ...said, final: true };
  const started = listen.onSpeechStarted(0, 0);
  const interim = listen.onSaid(0, said);
  listen.onSpeechStopped(0, 500);
  const messages = [
    ...started,
    ...interim,
    ...listen.onSaid(0, settled),
    ...listen.onFlushed(600),
    ...listen.advance(9000),
    metadataOf({ sha256: 'ab', created: '2026-01-01T00:00:00.000Z', durationMs: 9000 }, facts),
    configuredOf({ hotWords: [], refused: [] }, facts),
    configuredOf({ hotWords: null, refused: ['punctuate'] }, facts),
    flux.open(),
    ...flux.onSaid(said, 1),
    ...flux.onSaid({ ...said, text: 'Hi you.' }, 1),
    ...flux.onPaused(said, 1),
    ...flux.onResumed(),
    ...flux.onSaid(settled, 1),
    ...flux.onTurnEnded(),
  ];
  return JSON.parse(JSON.stringify(messages)) as Message[];
}

describe('what clients need', () => {
  it('is looked at in messages of every type, and of every event of a turn', () => {
    const messages = everyMessage();
    expect(new Set(messages.map(({ type }) => type))).toEqual(new Set(Object.keys(REQUIRED)));
    const events = messages.flatMap((message) => message['event'] ?? []);
    expect(events).toEqual(['StartOfTurn', 'Update', 'EagerEndOfTurn', 'TurnResumed', 'EndOfTurn']);
    const results = messages.filter(({ type }) => type === 'Results');
    expect(results.map((message) => [message['is_final'], message['from_finalize']])).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ]);
  });

  it('is in all of them', () => {
    for (const message of everyMessage()) expect([message.type, missing(message)]).toEqual([message.type, []]);
  });

  it.each(Object.entries(REQUIRED).flatMap(([type, paths]) => paths.slice(1).map((path) => [type, path])))(
    'is missed where it is deleted: %s without %s',
    (type, path) => {
      for (const message of everyMessage().filter((each) => each.type === type))
        expect(missing(without(message, path))).toContain(path);
    },
  );
});
