import { describe, expect, it } from 'vitest';
import { readCallParameters } from '../../src/calls/call-parameters.ts';

const NOTHING = {
  names: { inbound: null, outbound: null },
  agent: null,
  queue: null,
  retainDays: null,
  record: null,
  language: null,
  hotWords: [],
  hints: true,
};

describe('readCallParameters', () => {
  it('finds nothing where nothing is said', () => {
    expect(readCallParameters({ parameters: { app: 'wss://app.example.com' } })).toEqual(NOTHING);
  });

  it('reads the parameters whatever the case of their names', () => {
    const parameters = { CALLERNAME: 'Maria K.', agentname: 'Tom', Agent: 'tom', queue: 'support', RETAIN: '7' };
    expect(readCallParameters({ parameters: { ...parameters, Record: 'Both' } })).toEqual({
      names: { inbound: 'Maria K.', outbound: 'Tom' },
      agent: 'tom',
      queue: 'support',
      retainDays: 7,
      record: 'both',
      language: null,
      hotWords: [],
      hints: true,
    });
  });

  it('takes the name that the carrier told where the parameters have none', () => {
    const details = { callerName: 'KAYE MARIA' };
    expect(readCallParameters({ parameters: {}, details }).names.inbound).toBe('KAYE MARIA');
    expect(readCallParameters({ parameters: { callerName: 'Maria' }, details }).names.inbound).toBe('Maria');
    expect(readCallParameters({ parameters: { callerName: ' ' }, details }).names.inbound).toBe('KAYE MARIA');
  });

  it('keeps names short and on one line', () => {
    const parameters = { callerName: `a\n\u0000b ${'c'.repeat(300)}`, agentName: '\t \n' };
    const { names } = readCallParameters({ parameters });
    expect(names.inbound).toMatch(/^a b c{124}$/);
    expect(names.outbound).toBeNull();
  });

  it('leaves an agent that is too long out: a part of it may be the name of another', () => {
    expect(readCallParameters({ parameters: { agent: 'a'.repeat(129) } }).agent).toBeNull();
    expect(readCallParameters({ parameters: { agent: ` ${'a'.repeat(128)} ` } }).agent).toBe('a'.repeat(128));
  });

  it.each(['', '-1', '1.5', '36501', '99999999', 'ever'])('passes over retain=%s and record=%s', (value) => {
    expect(readCallParameters({ parameters: { retain: value, record: value } })).toEqual(NOTHING);
  });

  it('knows calls that are kept for no day', () => {
    expect(readCallParameters({ parameters: { retain: '0', record: 'off' } })).toMatchObject({
      retainDays: 0,
      record: 'off',
    });
  });
});
