import { describe, expect, it } from 'vitest';
import { RtpPorts } from '../../../src/trunks/rtp/ports.ts';

describe('the ports of media', () => {
  it.each([
    [{ first: 16_384, last: 16_387 }, [16_384, 16_386]],
    [{ first: 16_385, last: 16_389 }, [16_386, 16_388]],
    [{ first: 16_384, last: 16_386 }, [16_384]],
  ])('are pairs that lie wholly within %j', (range, expected) => {
    const ports = new RtpPorts(range);
    expect(Array.from({ length: ports.free }, () => ports.take())).toEqual(expected);
  });

  it('are refused when all are lent, and come back last', () => {
    const ports = new RtpPorts({ first: 4000, last: 4005 });
    expect([ports.take(), ports.take(), ports.take()]).toEqual([4000, 4002, 4004]);
    expect(() => ports.take()).toThrow(expect.objectContaining({ code: 'too_many_calls' }));
    ports.giveBack(4004);
    ports.giveBack(4000);
    ports.giveBack(4000);
    expect([ports.take(), ports.take()]).toEqual([4004, 4000]);
    expect(ports.free).toBe(0);
  });
});
