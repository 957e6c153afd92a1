import { describe, expect, it } from 'vitest';
import { Output } from '../../src/cli/terminal.ts';
import { TextStream } from '../helpers/terminal.ts';

describe('an output that is no terminal', () => {
  it('writes lines and nothing that moves or shines', () => {
    const stream = new TextStream();
    const output = new Output(stream);
    output.live([{ text: 'working' }]);
    output.line(`${output.bold('done')} ${output.dim('now')}`);
    expect(stream.text).toBe('done now\n');
  });
});

describe('an output on a terminal', () => {
  const open = (columns = 80) => {
    const stream = new TextStream({ isTTY: true, columns });
    return { stream, output: new Output(stream) };
  };

  it('replaces its live lines and clears them away', () => {
    const { stream, output } = open();
    output.live([{ text: 'one' }, { text: 'two' }]);
    output.live([{ text: 'three' }]);
    output.live([]);
    expect(stream.text).toBe('one\ntwo\n\r\u001b[2A\u001b[Jthree\n\r\u001b[1A\u001b[J');
  });

  it('writes a line that stays above the live lines', () => {
    const { stream, output } = open();
    output.live([{ text: 'live' }]);
    output.line('stays');
    expect(stream.text).toBe('live\n\r\u001b[1A\u001b[Jstays\nlive\n');
  });

  it('dims what may still change', () => {
    const { stream, output } = open();
    output.live([{ text: 'sure perhaps', dimFrom: 4 }]);
    expect(stream.text).toBe('sure\u001b[2m perhaps\u001b[0m\n');
  });

  it('keeps the head and the end of a line that is too wide', () => {
    const { stream, output } = open(12);
    output.live([{ head: '0:04 ', text: 'abcdefghij', dimFrom: 8 }]);
    expect(stream.text).toBe('0:04 …fgh\u001b[2mij\u001b[0m\n');
  });
});
