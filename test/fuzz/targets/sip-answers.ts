import assert from 'node:assert/strict';
import type { CallServices } from '../../../src/carriers/sip/incoming.ts';
import { RefusalLog } from '../../../src/carriers/sip/refusal-log.ts';
import { SipStack } from '../../../src/carriers/sip/stack.ts';
import { Switchboard } from '../../../src/carriers/sip/switchboard.ts';
import { SipFramer } from '../../../src/carriers/sip/wire/framer.ts';
import { refuseSip } from '../../../src/carriers/sip/wire/refusal.ts';
import type { SipSource } from '../../../src/carriers/sip/wire/via.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { wireFixtures } from '../fixtures.ts';
import type { FuzzTarget } from '../fuzz.ts';

const SOURCE = { protocol: 'UDP', address: '192.0.2.7', port: 5062 } as const;
const metrics = new Metrics();
const log = createLog('silent');

/** Has room for every call, and answers none of them. */
const services: CallServices = {
  registry: { admit: () => undefined, accept: () => undefined } as unknown as CallServices['registry'],
  openMedia: () => new Promise(() => undefined),
  openRecordingMedia: () => new Promise(() => undefined),
  mediaAddress: '198.51.100.1',
  codecs: ['opus', 'g722', 'mulaw', 'alaw'],
  ownUsers: ['trunkline'],
  log,
  srtp: 'allow',
  transfers: {
    takesRefer: true,
    mayAsk: () => true,
    mayTakeOver: () => true,
    dial: () => Promise.reject(new Error('no call begins here')),
  },
  timers: { clock: new FakeClock(), wantedS: 1800, onRefresh: () => undefined },
};

interface Outcome {
  readonly sent: { readonly text: string; readonly host: string }[];
  readonly dropped: string[];
}

/** What a user agent makes of what `feed` gives it. */
function outcomeOf(protocol: SipSource['protocol'], feed: (stack: SipStack) => void): Outcome {
  const outcome: Outcome = { sent: [], dropped: [] };
  const send = async (text: string, { host }: { readonly host: string }): Promise<void> =>
    void outcome.sent.push({ text, host });
  const stack = new SipStack(
    { protocol, port: 5060, send, has: () => false, disconnect: () => undefined, close: async () => undefined },
    {
      host: '198.51.100.1',
      clock: new FakeClock(),
      log,
      admits: () => true,
      mayAsk: () => true,
      mayAskWithin: () => true,
      credentials: () => undefined,
      onRefused: () => undefined,
      onDropped: (reason) => void outcome.dropped.push(reason),
      delegate: new Switchboard({
        services,
        limitOf: () => ({ dialogs: 50, unacknowledged: 50 }),
        refusals: new RefusalLog(new FakeClock(), log),
        metrics,
        onAsked: () => undefined,
      }),
    },
  );
  feed(stack);
  void stack.close();
  assert(!outcome.dropped.includes('error'), 'a fault of ours');
  for (const { text, host } of outcome.sent) {
    assert.equal(host, SOURCE.address, 'an answer to somebody else');
    assert.match(text, /^SIP\/2\.0 \d{3} /);
    assert.doesNotMatch(text, /\r(?!\n)|(?<!\r)\n/, 'a line end that the sender brought in');
  }
  return outcome;
}

/** A user agent that gets a mutated message: it answers requests, and nothing else, with no more than they are. */
export const target: FuzzTarget = {
  name: 'sip-answers',
  seeds: wireFixtures('sip', '.sip'),
  words: [
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    ' ',
    ',',
    ';',
    ':',
    '"',
    '<',
    '>',
    'Via: ',
    'SIP/2.0',
    'ACK',
    'CANCEL',
    'INVITE',
    'tag=',
    'Content-Length: ',
    '\0',
    '[',
  ],
  run(input) {
    const bytes = Buffer.from(input);
    const text = bytes.toString('latin1');
    const { sent, dropped } = outcomeOf('UDP', (stack) => stack.receive(bytes, SOURCE));
    const isSign = /^[\r\n\0]{0,4}$/.test(text);
    const isAnswerable =
      refuseSip(text, { source: SOURCE, fault: { statusCode: 400, reason: '' }, tagOf: () => '' }) !== null;
    if (isAnswerable) assert(sent.length + dropped.length > 0, 'a request without an answer that nobody counted');
    else if (!isSign) assert(sent.length === 0, 'an answer to what is no request');
    for (const answer of sent) assert(answer.text.length <= text.length, 'an answer larger than its request');

    outcomeOf('TCP', (stack) => {
      for (const frame of new SipFramer().push(bytes)) {
        const source = { ...SOURCE, protocol: 'TCP' } as const;
        if (frame.type === 'message') stack.receive(Buffer.from(frame.text, 'latin1'), source);
        if (frame.type === 'fault') stack.receiveBroken(frame.text, source, frame.fault);
      }
    });
  },
};
