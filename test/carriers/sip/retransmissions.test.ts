import { beforeEach, describe, expect, it } from 'vitest';
import { Retransmissions } from '../../../src/carriers/sip/retransmissions.ts';
import type { SentSip } from '../../../src/carriers/sip/wire/sent-message.ts';
import { FakeClock } from '../../fakes/clock.ts';

let clock: FakeClock;
let retransmissions: Retransmissions;
/** When it was sent again. */
let times: number[];

beforeEach(() => {
  clock = new FakeClock();
  retransmissions = new Retransmissions({ clock });
  times = [];
});

function send(kind: SentSip['kind'], method: string, statusCode: number | null = null): void {
  retransmissions.sent({ kind, method, statusCode, transaction: 'b', destination: null }, () =>
    times.push(clock.nowMs()),
  );
}

function receive(kind: SentSip['kind'], method: string, statusCode: number | null = null, transaction = 'b'): void {
  retransmissions.received({ kind, method, statusCode, transaction });
}

describe('Retransmissions', () => {
  it('repeat an INVITE at intervals that double, for 32 s', () => {
    send('request', 'INVITE');
    clock.advance(100_000);
    expect(times).toEqual([500, 1500, 3500, 7500, 15_500, 31_500]);
    expect(clock.pending).toBe(0);
  });

  it('repeat another request every 4 s at the latest', () => {
    send('request', 'BYE');
    clock.advance(16_000);
    expect(times).toEqual([500, 1500, 3500, 7500, 11_500, 15_500]);
  });

  it('end with any answer to an INVITE, and with a final one to another request', () => {
    send('request', 'INVITE');
    receive('response', 'INVITE', 100);
    send('request', 'BYE');
    receive('response', 'BYE', 100);
    clock.advance(6000);
    expect(times).toEqual([500, 4500]);
    receive('response', 'BYE', 200);
    clock.advance(60_000);
    expect(times).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it('do not end with the answer to another request', () => {
    send('request', 'BYE');
    receive('response', 'BYE', 200, 'c');
    receive('response', 'INVITE', 200);
    clock.advance(600);
    expect(times).toEqual([500]);
  });

  it('repeat few refusals to one address at once, and others to another', () => {
    const refuse = (transaction: string, host: string): void =>
      retransmissions.sent(
        { kind: 'response', method: 'INVITE', statusCode: 488, transaction, destination: { host, port: 5060 } },
        () => times.push(clock.nowMs()),
      );
    for (let i = 0; i < 100; i++) refuse(`b${i}`, '192.0.2.7');
    refuse('other', '192.0.2.8');
    clock.advance(500);
    expect(times).toHaveLength(17);
    receive('request', 'ACK', null, 'b0');
    refuse('next', '192.0.2.7');
    clock.advance(500);
    expect(times).toHaveLength(18);
    clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  it('repeat the refusal of an INVITE until its ACK', () => {
    send('response', 'INVITE', 486);
    clock.advance(2000);
    expect(times).toEqual([500, 1500]);
    receive('request', 'ACK');
    clock.advance(60_000);
    expect(times).toHaveLength(2);
  });

  it.each([
    ['request', 'ACK', null],
    ['response', 'INVITE', 180],
    ['response', 'INVITE', 200],
    ['response', 'BYE', 481],
  ] as const)('leave alone what is repeated by others or not at all: %s %s %s', (kind, method, statusCode) => {
    send(kind, method, statusCode);
    clock.advance(60_000);
    expect(times).toEqual([]);
  });

  it('do not multiply when the same message is sent once more', () => {
    send('response', 'INVITE', 486);
    send('response', 'INVITE', 486);
    clock.advance(600);
    expect(times).toEqual([500]);
  });

  it('are over when they are closed', () => {
    send('request', 'INVITE');
    retransmissions.close();
    expect(clock.pending).toBe(0);
  });
});
