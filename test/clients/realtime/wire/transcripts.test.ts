import { beforeEach, describe, expect, it } from 'vitest';
import { Conversation, writeItem } from '../../../../src/clients/realtime/wire/items.ts';
import { EventWriter, type ServerEvent, sessionEvent } from '../../../../src/clients/realtime/wire/server-events.ts';
import { type HeardText, type ItemEnd, Transcripts } from '../../../../src/clients/realtime/wire/transcripts.ts';

let sent: ServerEvent[] = [];
let finished: string[] = [];
let conversation = new Conversation();
let transcripts = open();

function open(end: ItemEnd = 'silence', areTextsWanted = true): Transcripts {
  let items = 0;
  sent = [];
  finished = [];
  conversation = new Conversation();
  const opened = new Transcripts({
    conversation,
    newItemId: () => `item_${++items}`,
    send: (event) => sent.push(event),
    onFinished: ({ itemId, text }) => finished.push(`${itemId}: ${text}`),
  });
  opened.configure({ end, prefixMs: 300, areTextsWanted });
  return opened;
}

beforeEach(() => {
  transcripts = open();
});

const SHORT: Readonly<Record<string, string>> = {
  'conversation.item.input_audio_transcription.delta': 'delta',
  'conversation.item.input_audio_transcription.completed': 'completed',
  'conversation.item.input_audio_transcription.failed': 'failed',
};

/** Each event as a short line. */
function lines(): string[] {
  return sent.map((event) => {
    const { type, item_id: id, delta, transcript } = event;
    const name = SHORT[type] ?? type.replace(/^.*\.(?=[^.]+$)/, '');
    const item = id ?? (event['item'] as { id: string }).id;
    return [name, item, delta ?? transcript].filter((part) => part !== undefined).join(' ');
  });
}

function partial(stable: string, tail: string, utterance = 1, startMs = 1000): HeardText {
  return { utterance, stable, text: stable + tail, final: false, startMs, endMs: startMs + 500 };
}

function final(text: string, utterance = 1, startMs = 1000): HeardText {
  return { utterance, stable: text, text, final: true, startMs, endMs: startMs + 1500 };
}

describe('an utterance that silence ends', () => {
  it('is told in the order that clients need', () => {
    transcripts.speechStarted(1000);
    transcripts.caption(partial('', 'Good'));
    transcripts.caption(partial('Good', ' mor'));
    transcripts.caption(partial('Good morning', ' every'));
    transcripts.speechStopped(2400);
    transcripts.caption(final('Good morning, everybody.'));
    expect(lines()).toEqual([
      'speech_started item_1',
      'delta item_1 Good',
      'delta item_1  morning',
      'speech_stopped item_1',
      'committed item_1',
      'added item_1',
      'done item_1',
      'delta item_1 , everybody.',
      'completed item_1 Good morning, everybody.',
    ]);
    expect(sent[0]).toMatchObject({ audio_start_ms: 700 });
    expect(sent[3]).toMatchObject({ audio_end_ms: 2400 });
    expect(sent[4]).toMatchObject({ previous_item_id: null });
    expect(sent[5]).toMatchObject({
      item: { type: 'message', role: 'user', content: [{ type: 'input_audio', transcript: null }] },
    });
    expect(sent.at(-1)).toMatchObject({ content_index: 0, usage: { type: 'duration', seconds: 1.5 } });
  });

  it('is never taken back: what was certain stays, only the transcript is right', () => {
    transcripts.speechStarted(1000);
    transcripts.caption(partial('Good mourning', ''));
    transcripts.speechStopped(2400);
    transcripts.caption(final('Good morning.'));
    expect(lines().filter((line) => /^(delta|completed)/.test(line))).toEqual([
      'delta item_1 Good mourning',
      'completed item_1 Good morning.',
    ]);
  });

  it('is remembered with its text, so that a client may ask for it again', () => {
    transcripts.speechStarted(1000);
    transcripts.speechStopped(2400);
    transcripts.caption(final('Yes.'));
    const item = conversation.get('item_1');
    expect(item && writeItem(item)).toMatchObject({ content: [{ type: 'input_audio', transcript: 'Yes.' }] });
    expect(finished).toEqual(['item_1: Yes.']);
  });

  it('gets an empty text, once a later one has its own, when there were no words in it', () => {
    transcripts.speechStarted(1000);
    transcripts.speechStopped(1200);
    transcripts.speechStarted(4000);
    transcripts.speechStopped(5000);
    transcripts.caption(final('Hello.', 2, 4000));
    expect(lines().filter((line) => line.startsWith('completed'))).toEqual([
      'completed item_1 ',
      'completed item_2 Hello.',
    ]);
    expect(sent.find(({ type, item_id: id }) => type.endsWith('committed') && id === 'item_2')).toMatchObject({
      previous_item_id: 'item_1',
    });
  });

  it('gets an empty text at once where it turns out to be a noise, and others wait for theirs', () => {
    transcripts.speechStarted(1000);
    transcripts.speechStopped(1200);
    transcripts.speechStarted(4000);
    transcripts.wordless(4000);
    transcripts.wordless(1000);
    transcripts.wordless(1000);
    expect(finished).toEqual(['item_1: ']);
    transcripts.speechStopped(5000);
    transcripts.caption(final('Hello.', 2, 4000));
    expect(lines().filter((line) => line.startsWith('completed'))).toEqual([
      'completed item_1 ',
      'completed item_2 Hello.',
    ]);
  });

  it('is cut in long speech: each part is an item, though only the first was told to begin', () => {
    transcripts.speechStarted(1000);
    transcripts.caption(partial('One', ' two'));
    transcripts.caption(partial('three', ' four', 2, 9000));
    transcripts.caption(final('One two.'));
    transcripts.speechStopped(12_000);
    transcripts.caption(final('Three four.', 2, 9000));
    expect(lines()).toEqual([
      'speech_started item_1',
      'delta item_1 One',
      'speech_stopped item_1',
      'committed item_1',
      'added item_1',
      'done item_1',
      'speech_started item_2',
      'delta item_2 three',
      'delta item_1  two.',
      'completed item_1 One two.',
      'speech_stopped item_2',
      'committed item_2',
      'added item_2',
      'done item_2',
      'completed item_2 Three four.',
    ]);
    expect(sent[2]).toMatchObject({ audio_end_ms: 9000 });
  });

  it('is committed by its final, should that come before its end', () => {
    transcripts.speechStarted(1000);
    transcripts.caption(final('Yes.'));
    transcripts.speechStopped(2000);
    expect(lines()).toEqual([
      'speech_started item_1',
      'delta item_1 Yes.',
      'speech_stopped item_1',
      'committed item_1',
      'added item_1',
      'done item_1',
      'completed item_1 Yes.',
    ]);
  });

  it('is told to have failed when no text comes of it', () => {
    transcripts.speechStarted(1000);
    transcripts.speechStopped(2000);
    transcripts.gap(900, 2100);
    expect(lines().at(-1)).toBe('failed item_1');
    expect(sent.at(-1)).toMatchObject({ content_index: 0, error: { type: 'server_error', param: null } });
  });

  it('is no text for a client that wants none, and is finished all the same', () => {
    transcripts = open('silence', false);
    transcripts.speechStarted(1000);
    transcripts.caption(partial('Good', ''));
    transcripts.speechStopped(2400);
    transcripts.caption(final('Good.'));
    expect(lines().some((line) => /^(delta|completed)/.test(line))).toBe(false);
    expect(finished).toEqual(['item_1: Good.']);
  });

  it('leaves no more items without a text than a limit', () => {
    for (let n = 0; n < 200; n++) {
      transcripts.speechStarted(n * 1000);
      transcripts.speechStopped(n * 1000 + 500);
    }
    expect(finished).toHaveLength(200 - 64);
  });
});

describe('a commit', () => {
  it('ends what is said, and its text follows', () => {
    transcripts.speechStarted(1000);
    transcripts.commit(2000);
    transcripts.speechStopped(1900);
    transcripts.caption(final('Yes.'));
    transcripts.flushed(2000);
    expect(lines().at(-1)).toBe('completed item_1 Yes.');
    expect(lines().filter((line) => line.startsWith('completed'))).toHaveLength(1);
  });

  it('of nothing is an item without words, not an error', () => {
    transcripts.commit(2000);
    transcripts.flushed(2000);
    expect(lines()).toEqual(['committed item_1', 'added item_1', 'done item_1', 'completed item_1 ']);
  });

  it('gives an empty text to what had no words', () => {
    transcripts.speechStarted(1000);
    transcripts.commit(2000);
    transcripts.flushed(2000);
    expect(lines()).toEqual([
      'speech_started item_1',
      'speech_stopped item_1',
      'committed item_1',
      'added item_1',
      'done item_1',
      'completed item_1 ',
    ]);
  });
});

describe('without turn detection', () => {
  beforeEach(() => {
    transcripts = open('commit');
  });

  it('one item holds all that was said up to a commit, and nobody is told where speech begins', () => {
    transcripts.speechStarted(1000);
    transcripts.caption(partial('One', ' two'));
    transcripts.caption(final('One two.'));
    transcripts.caption(partial('Three', ' fo', 2, 9000));
    transcripts.commit(12_000);
    transcripts.caption(final('Three four.', 2, 9000));
    transcripts.flushed(12_000);
    expect(lines()).toEqual([
      'delta item_1 One',
      'delta item_1  two.',
      'delta item_1  Three',
      'committed item_1',
      'added item_1',
      'done item_1',
      'delta item_1  four.',
      'completed item_1 One two. Three four.',
    ]);
    expect(sent.at(-1)).toMatchObject({ usage: { type: 'duration', seconds: 11 } });
  });

  it('each commit is answered, also one of silence', () => {
    for (let n = 0; n < 2; n++) {
      transcripts.commit(1000);
      transcripts.flushed(1000);
    }
    expect(finished).toEqual(['item_1: ', 'item_2: ']);
  });

  it('what is cleared is in no item', () => {
    transcripts.speechStarted(1000);
    transcripts.caption(final('Forget this.'));
    transcripts.cleared();
    transcripts.speechStarted(5000);
    transcripts.caption(final('Keep this.', 2, 5000));
    transcripts.commit(7000);
    transcripts.flushed(7000);
    expect(finished).toEqual(['item_2: Keep this.']);
  });
});

describe('a turn', () => {
  beforeEach(() => {
    transcripts = open('turn');
  });

  it('is one item, however many utterances it has', () => {
    transcripts.speechStarted(1000);
    transcripts.caption(partial('My', ' name'));
    transcripts.speechStopped(2400);
    transcripts.caption(final('My name is'));
    transcripts.speechStarted(3000);
    transcripts.speechStopped(4000);
    transcripts.caption(final('Kim.', 2, 3000));
    transcripts.turnEnded(4000);
    expect(lines()).toEqual([
      'speech_started item_1',
      'delta item_1 My',
      'delta item_1  name is',
      'delta item_1  Kim.',
      'speech_stopped item_1',
      'committed item_1',
      'added item_1',
      'done item_1',
      'completed item_1 My name is Kim.',
    ]);
    expect(finished).toEqual(['item_1: My name is Kim.']);
  });

  it('ends where it was only a noise, and goes on over one', () => {
    transcripts.speechStarted(1000);
    transcripts.speechStopped(1200);
    transcripts.wordless(1000);
    expect(finished).toEqual(['item_1: ']);
    transcripts.speechStarted(4000);
    transcripts.caption(final('My name', 2, 4000));
    transcripts.speechStarted(6000);
    transcripts.wordless(6000);
    transcripts.caption(final('is Kim.', 4, 8000));
    transcripts.turnEnded(9000);
    expect(finished).toEqual(['item_1: ', 'item_2: My name is Kim.']);
  });

  it('may be ended by a commit', () => {
    transcripts.speechStarted(1000);
    transcripts.commit(2000);
    transcripts.caption(final('Yes.'));
    transcripts.flushed(2000);
    expect(finished).toEqual(['item_1: Yes.']);
  });
});

describe('the writer of events', () => {
  it('gives each event an id of its own', () => {
    const writer = new EventWriter('s1', false);
    const ids = [1, 2].map(() => JSON.parse(writer.write({ type: 'input_audio_buffer.cleared' }) ?? '').event_id);
    expect(ids).toEqual(['event_s1_1', 'event_s1_2']);
  });

  it('has the old names for beta clients', () => {
    const writer = new EventWriter('s1', true);
    const typeOf = (event: ServerEvent): unknown => {
      const text = writer.write(event);
      return text === null ? null : JSON.parse(text).type;
    };
    const session = { object: 'realtime.transcription_session' };
    expect(typeOf(sessionEvent('session.created', session))).toBe('transcription_session.created');
    expect(typeOf(sessionEvent('session.created', { object: 'realtime.session' }))).toBe('session.created');
    expect(typeOf({ type: 'conversation.item.added', item: {} })).toBe('conversation.item.created');
    expect(typeOf({ type: 'conversation.item.done', item: {} })).toBeNull();
    expect(typeOf({ type: 'response.output_audio.delta' })).toBe('response.audio.delta');
    expect(
      JSON.parse(writer.write({ type: 'conversation.item.added', item: { content: [{ type: 'output_audio' }] } }) ?? '')
        .item.content,
    ).toEqual([{ type: 'audio' }]);
    const response = { id: 'r', output: [{ content: [{ type: 'output_text' }] }], output_modalities: ['audio'] };
    expect(JSON.parse(writer.write({ type: 'response.done', response }) ?? '').response).toEqual({
      id: 'r',
      output: [{ content: [{ type: 'text' }] }],
      modalities: ['audio', 'text'],
    });
  });
});
