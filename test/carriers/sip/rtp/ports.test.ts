import { describe, expect, it } from 'vitest';
import { RtpPorts } from '../../../../src/carriers/sip/rtp/ports.ts';

const takeAll = (ports: RtpPorts): number[] => Array.from({ length: ports.free }, () => ports.take());
const lowestFirst = (): number => 0;

describe('the ports of media', () => {
  it.each([
    [{ first: 16_384, last: 16_387 }, [16_384, 16_386]],
    [{ first: 16_385, last: 16_389 }, [16_386, 16_388]],
    [{ first: 16_384, last: 16_386 }, [16_384]],
  ])('are pairs that lie wholly within %j', (range, expected) => {
    expect(takeAll(new RtpPorts(range)).sort()).toEqual(expected);
  });

  it('are lent in an order that nobody can tell', () => {
    const range = { first: 16_384, last: 16_583 };
    const [first, second] = [takeAll(new RtpPorts(range)), takeAll(new RtpPorts(range))];
    expect(first).not.toEqual(second);
    expect(new Set(first)).toEqual(new Set(second));
    const again = new RtpPorts(range);
    for (const port of takeAll(again)) again.giveBack(port);
    const order = takeAll(again);
    for (const port of order) again.giveBack(port);
    expect(takeAll(again)).not.toEqual(order);
  });

  it('are refused when all are lent, and come back last', () => {
    const ports = new RtpPorts({ first: 4000, last: 4005 }, lowestFirst);
    expect([ports.take(), ports.take(), ports.take()]).toEqual([4000, 4002, 4004]);
    expect(() => ports.take()).toThrow(expect.objectContaining({ code: 'too_many_calls' }));
    ports.giveBack(4004);
    ports.giveBack(4000);
    ports.giveBack(4000);
    expect([ports.take(), ports.take()]).toEqual([4004, 4000]);
    expect(ports.free).toBe(0);
  });

  it('that were given back last are not lent while there are enough others', () => {
    const ports = new RtpPorts({ first: 4000, last: 4039 });
    const late = Array.from({ length: 10 }, () => ports.take());
    for (const port of late) ports.giveBack(port);
    expect(late).not.toContain(ports.take());
  });
});
