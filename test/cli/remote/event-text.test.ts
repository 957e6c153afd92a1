import { describe, expect, it } from 'vitest';
import type { CaptionEvent, FeedEvent } from '../../../src/calls/feed/events.ts';
import { textOfEvent } from '../../../src/cli/remote/event-text.ts';
import { TailDisplay } from '../../../src/cli/remote/tail-display.ts';
import { Output } from '../../../src/cli/terminal.ts';
import { TextStream } from '../../helpers/terminal.ts';

const final: CaptionEvent = {
  type: 'caption',
  callId: 'CA0123456789',
  track: 'inbound',
  utterance: 1,
  stable: 'Hello.',
  tail: '',
  text: 'Hello.',
  final: true,
  startMs: 64_000,
  endMs: 65_000,
  lagMs: 80,
};

describe('an event in words', () => {
  it.each<[string, FeedEvent, string | null]>([
    ['a final', final, 'Hello.'],
    ['a partial caption', { ...final, final: false }, null],
    ['words behind the caller', { ...final, background: true }, '[background] Hello.'],
    ['a key', { type: 'dtmf', callId: 'a', digit: '5', atMs: 10 }, '[key 5]'],
    ['a state', { type: 'call.state', callId: 'a', state: 'held', atMs: 10 }, '[held]'],
    ['a lost app', { type: 'app.lost', callId: 'a', atMs: 10 }, '[lost]'],
    [
      'a note',
      { type: 'note', callId: 'a', note: 'n', author: 'ann', text: 'calls back', at: '' },
      '[note by ann] calls back',
    ],
    [
      'an end',
      { type: 'call.ended', callId: 'a', reason: 'hangup', durationMs: 61_000, handoffData: null },
      '[ended: hangup, 1:01]',
    ],
  ])('%s', (_name, event, text) => {
    expect(textOfEvent(event)?.text ?? null).toBe(text);
  });

  it('leaves out what the caller did not hear', () => {
    const times = { startMs: 0, endMs: 900, atMs: 900 };
    const spoken = {
      type: 'spoken',
      callId: 'a',
      utterance: 'u',
      text: 'One two',
      heardText: 'One',
      interrupted: true,
    };
    expect(textOfEvent({ ...spoken, ...times } as FeedEvent)?.text).toBe('One [cut off]');
  });
});

describe('the captions of many calls', () => {
  const names = { inbound: 'Maria\u001b[2J K.', outbound: null };

  it('name call and speaker, and obey nothing that a caller sends', () => {
    const stream = new TextStream();
    const display = new TailDisplay(new Output(stream), { isOne: false });
    display.introduce(final.callId, names, `Maria\u001b[2J K. → ?`);
    display.show(final);
    expect(stream.text).toBe('…456789  Maria [2J K. → ?\n…456789    1:04  Maria [2J K.  Hello.\n');
  });

  it('change in place on a terminal, and never more lines than it has room for', () => {
    const stream = new TextStream({ isTTY: true });
    const display = new TailDisplay(new Output(stream), { isOne: false });
    for (let call = 0; call < 20; call++)
      display.show({ ...final, callId: `call-${call}`, stable: 'he', final: false });
    stream.text = '';
    display.show({ ...final, callId: 'call-19', stable: 'hello', final: false });
    expect(stream.text).toContain('\u001b[8A');
    expect(stream.text.split('\n').length).toBe(9);
    display.end();
    stream.text = '';
    display.show({ ...final, callId: 'call-3' });
    expect(stream.text).not.toContain('\u001b[8A');
  });

  it('are only final ones where nobody watches', () => {
    const stream = new TextStream();
    new TailDisplay(new Output(stream), { isOne: true }).show({ ...final, final: false });
    expect(stream.text).toBe('');
  });
});
