import { describe, expect, it } from 'vitest';
import { PAUSE_MAX_MS, PromptTextError, readPromptText } from '../../../src/flows/prompts/prompt-text.ts';

describe('the text of a prompt', () => {
  it('is words, values and pauses in order', () => {
    expect(readPromptText('Order {order:digits}:<break time="500ms"/> {state}.')).toEqual([
      { kind: 'words', text: 'Order ' },
      { kind: 'value', variable: 'order', format: 'digits' },
      { kind: 'words', text: ':' },
      { kind: 'pause', ms: 500 },
      { kind: 'words', text: ' ' },
      { kind: 'value', variable: 'state', format: null },
      { kind: 'words', text: '.' },
    ]);
  });

  it('takes variables of the call and pauses in seconds, with either quote, open or closed', () => {
    expect(readPromptText(`{call.from:phone}<break time='1.5s'>`)).toEqual([
      { kind: 'value', variable: 'call.from', format: 'phone' },
      { kind: 'pause', ms: 1500 },
    ]);
  });

  it('has doubled braces as braces, and signs that begin nothing as they are', () => {
    expect(readPromptText('a {{b}} < c } 3<4')).toEqual([{ kind: 'words', text: 'a {b} < c } 3<4' }]);
  });

  it.each([
    ['Hello {name', 6, 'got "{name", expected a variable'],
    ['{two words}', 0, 'expected a variable such as {name}'],
    ['{total:money}', 0, 'format: got "money", expected one of digits, number, date'],
    ['a <emphasis>b', 2, 'got "<emphasis>", expected <break time="500ms"/>'],
    ['<break/>', 0, 'expected <break time="500ms"/>'],
    ['<break time="11s"/>', 0, `at most ${PAUSE_MAX_MS} ms`],
    [`xxx${'{a}'.repeat(101)}`, 303, 'at most 100 values and pauses'],
  ])('refuses %.30j at %i', (text, at, message) => {
    const read = () => readPromptText(text);
    expect(read).toThrow(PromptTextError);
    expect(read).toThrow(message);
    try {
      read();
    } catch (error) {
      expect(error).toHaveProperty('at', at);
    }
  });
});
