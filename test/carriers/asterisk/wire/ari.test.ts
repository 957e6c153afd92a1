import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAriEvent, readIds, readStasisRequest } from '../../../../src/carriers/asterisk/wire/ari.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';

const FOLDER = join(import.meta.dirname, '../../../../fixtures/wire/ari');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

function codeOf(action: () => unknown): string {
  try {
    action();
    return 'none';
  } catch (error) {
    if (error instanceof TrunklineError) return error.code;
    throw error;
  }
}

describe('an event of Asterisk', () => {
  it('tells of a channel that has come into the application', () => {
    expect(readAriEvent(read('good/stasis-start.json'))).toMatchObject({
      type: 'entered',
      channel: { id: '1795264395.22', state: 'Ring', from: '100', to: '620', callerName: 'Lab', connectedName: null },
      args: ['talk', 'welcomeGreeting=Hello, and thank you for calling.', 'bargeIn=any'],
    });
  });

  it.each([
    [
      'good/stasis-start-media.json',
      { type: 'entered', channel: { id: 'trunkline-trunkline-f3b1b6a4bd1f5a0c-inbound-media' }, args: [] },
    ],
    ['good/stasis-end.json', { type: 'left', channelId: '1795264395.22' }],
    ['good/channel-destroyed.json', { type: 'destroyed', channelId: '1795264395.22' }],
    ['good/application-replaced.json', { type: 'replaced' }],
    ['good/channel-varset.json', { type: 'ignored' }],
    ['good/channel-varset-bridgepeer.json', { type: 'bridged', channel: { id: '1795240105.8' } }],
    ['good/channel-hold.json', { type: 'held', channelId: '1795264395.22', isHeld: true }],
    ['good/channel-unhold.json', { type: 'held', channelId: '1795264395.22', isHeld: false }],
  ])('is what it is: %s', (name, event) => {
    expect(readAriEvent(read(name))).toMatchObject(event);
  });

  it.each([
    'bad/not-json.json',
    'bad/no-channel.json',
    'bad/channel-without-id.json',
    'bad/arguments-of-numbers.json',
    'bad/many-arguments.json',
  ])('is refused: %s', (name) => {
    expect(codeOf(() => readAriEvent(read(name)))).toBe('message_malformed');
  });

  it('without caller and extension tells none', () => {
    expect(
      readAriEvent('{"type":"StasisStart","channel":{"id":"1.1","caller":{"number":""},"dialplan":null}}'),
    ).toMatchObject({
      channel: { from: null, to: null, state: '' },
      args: [],
    });
  });
});

describe('a list', () => {
  it('gives its ids, whatever else is in it', () => {
    expect(readIds([{ id: 'a' }, { id: 5 }, null, 'x', { id: 'two words' }, { id: 'b' }])).toEqual(['a', 'b']);
    expect(readIds({ id: 'a' })).toEqual([]);
  });
});

describe('what a dialplan asks for', () => {
  it.each([
    [[], 'talk', {}],
    [[''], 'talk', {}],
    [['assist'], 'assist', {}],
    [[' captions ', 'from=100'], 'captions', { from: '100' }],
    [['app=wss://a/?x=1&y=2', 'orderId='], 'talk', { app: 'wss://a/?x=1&y=2', orderId: '' }],
    [['talk', '__proto__x=1'], 'none', {}],
    [['sing'], 'none', {}],
    [['talk', 'welcomeGreeting'], 'none', {}],
  ])('%j', (args, mode, parameters) => {
    if (mode === 'none') {
      expect(codeOf(() => readStasisRequest(args))).toBe('invalid_request');
      return;
    }
    const request = readStasisRequest(args);
    expect([request.mode, { ...request.parameters }]).toEqual([mode, parameters]);
  });
});
