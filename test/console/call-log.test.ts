/** What the console makes of a call's events, without a browser. */
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/foundation/folders/paths.ts';

const { CallLog } = (await import(packagePath('src', 'console', 'page', 'call', 'call-log.js'))) as {
  CallLog: new (
    startedAt: string,
  ) => {
    apply(event: object): string[];
    readonly items: readonly { readonly text: string; readonly background: boolean }[];
  };
};

describe('the log of a call', () => {
  it('knows what was said behind the caller', () => {
    const log = new CallLog('2026-01-01T00:00:00.000Z');
    const caption = { type: 'caption', track: 'inbound', final: true, startMs: 0, endMs: 500 };
    log.apply({ ...caption, utterance: 1, text: 'Hello.' });
    log.apply({ ...caption, utterance: 2, text: 'The news.', startMs: 600, background: true });
    expect(log.items.map(({ text, background }) => [text, background])).toEqual([
      ['Hello.', false],
      ['The news.', true],
    ]);
  });
});
