import { describe, expect, it } from 'vitest';
import type { CaptionEvent } from '../../src/calls/feed/events.ts';
import { CaptionDisplay } from '../../src/cli/caption-display.ts';
import { Output } from '../../src/cli/terminal.ts';
import { TextStream } from '../helpers/terminal.ts';

const caption = (over: Partial<CaptionEvent>): CaptionEvent => ({
  type: 'caption',
  callId: 'CA1',
  track: 'inbound',
  utterance: 1,
  stable: '',
  tail: '',
  text: '',
  final: false,
  startMs: 64_500,
  endMs: 65_000,
  lagMs: 50,
  ...over,
});

describe('captions on a terminal', () => {
  it('change in place, one line for each side, until their final stays', () => {
    const stream = new TextStream({ isTTY: true });
    const display = new CaptionDisplay(new Output(stream));
    display.show(caption({ stable: 'I am', tail: ' her' }));
    display.show(caption({ track: 'outbound', tail: 'Yes' }));
    stream.text = '';
    display.show(caption({ text: 'I am here.', final: true }));
    const agent = '  1:04  Agent   \u001b[2mYes\u001b[0m\n';
    expect(stream.text).toBe(`\r\u001b[2A\u001b[J${agent}\r\u001b[1A\u001b[J  1:04  Caller  I am here.\n${agent}`);
  });
});

describe('a final on a terminal', () => {
  it('that comes late leaves what is being said now', () => {
    const stream = new TextStream({ isTTY: true });
    const display = new CaptionDisplay(new Output(stream));
    display.show(caption({ utterance: 3, tail: 'My number' }));
    stream.text = '';
    display.show(caption({ utterance: 2, text: 'Five five.', final: true }));
    expect(stream.text).toContain('My number');
    expect(stream.text.indexOf('Five five.')).toBeLessThan(stream.text.lastIndexOf('My number'));
  });
});

describe('captions in a file', () => {
  it('say what is missing among them', () => {
    const stream = new TextStream();
    const display = new CaptionDisplay(new Output(stream));
    display.showGap({
      type: 'gap',
      callId: 'CA1',
      track: 'outbound',
      startMs: 64_500,
      endMs: 70_100,
      reason: 'overload',
    });
    expect(stream.text).toBe('  1:04  Agent   [missing until 1:10: overload]\n');
  });

  it('are corrected below the final', () => {
    const stream = new TextStream();
    const display = new CaptionDisplay(new Output(stream));
    const { callId, track, utterance, startMs, endMs } = caption({});
    const revision = { type: 'revision', callId, track, utterance, version: 2, startMs, endMs } as const;
    display.showRevision({ ...revision, text: 'I was here.' });
    display.showRevision({ ...revision, text: '' });
    expect(stream.text).toBe(
      '  1:04  Caller  (corrected) I was here.\n  1:04  Caller  (corrected: nothing was said)\n',
    );
  });

  it('are the finals alone', () => {
    const stream = new TextStream();
    const display = new CaptionDisplay(new Output(stream));
    display.show(caption({ tail: 'I am' }));
    display.show(caption({ text: 'I am here.', final: true }));
    display.end();
    expect(stream.text).toBe('  1:04  Caller  I am here.\n');
  });
});
