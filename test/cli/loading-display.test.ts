import { expect, it } from 'vitest';
import { LoadingDisplay } from '../../src/cli/loading-display.ts';
import { Output } from '../../src/cli/terminal.ts';
import { TextStream } from '../helpers/terminal.ts';

it('shows what the engines are at and how many are ready, then goes away and stays away', () => {
  const stream = new TextStream({ isTTY: true });
  const display = new LoadingDisplay(new Output(stream));
  display.show();
  display.onProgress('rewriting the graphs, which takes a few seconds; they are kept in /a/long/path');
  display.onReady(1, 2);
  display.end();
  display.onReady(2, 2);
  const shown = stream.text.replaceAll('\r\u001b[1A\u001b[J', '').split('\n');
  expect(shown).toEqual([
    'Loading the speech models…',
    'Rewriting the graphs, which takes a few seconds…',
    'Loading the speech models… 1 of 2 ready',
    '',
  ]);
});
