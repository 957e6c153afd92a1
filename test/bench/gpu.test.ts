import { describe, expect, it } from 'vitest';
import { callsHeld } from './gpu/calls.ts';
import { halfToFloat, relativeDifference } from './gpu/numbers.ts';
import { placementOf } from './gpu/placement.ts';

const CPU = 'CPUExecutionProvider';
const CUDA = 'CUDAExecutionProvider';

function kernel(op: string, provider: string, ts: number, dur: number) {
  return { cat: 'Node', name: `${op}_kernel_time`, ts, dur, args: { op_name: op, provider } };
}

describe('the placement of nodes', () => {
  it('tells copies and CPU kernels within a loop from those around it', () => {
    const events = [
      { cat: 'Session', name: 'model_run', ts: 0, dur: 500, args: {} },
      kernel('MemcpyFromHost', CUDA, 0, 5),
      kernel('Gather', CPU, 6, 5),
      kernel('MatMul', CUDA, 110, 20),
      kernel('MemcpyToHost', CUDA, 140, 10),
      kernel('Shape', CPU, 150, 10),
      kernel('MatMul', CUDA, 170, 20),
      kernel('Shape', CPU, 190, 10),
      kernel('Loop', CUDA, 100, 100),
      kernel('MemcpyToHost', CUDA, 210, 10),
    ];
    expect(placementOf(events)).toEqual({
      kernels: { [CUDA]: 6, [CPU]: 3 },
      copies: { outside: 2, inLoop: 1 },
      onCpuInLoop: { Shape: 2 },
    });
  });
});

describe('the comparison of numbers', () => {
  it.each([
    [0x3c00, 1],
    [0xc000, -2],
    [0x3555, 0.333_251_953_125],
    [0x7bff, 65_504],
    [0x0001, 2 ** -24],
    [0x8000, -0],
    [0xfc00, Number.NEGATIVE_INFINITY],
    [0x7e00, Number.NaN],
  ])('reads float16 %i as %d', (bits, value) => expect(halfToFloat(bits)).toBe(value));

  it('is a share of the greatest, and infinite where nothing can be compared', () => {
    expect(relativeDifference(Float32Array.of(1, -4.5), Float32Array.of(1, -4))).toBe(0.125);
    expect(relativeDifference(Float32Array.of(Number.NaN), Float32Array.of(1))).toBe(Number.POSITIVE_INFINITY);
    expect(relativeDifference(Float32Array.of(1), Float32Array.of(1, 2))).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the calls that a device holds', () => {
  it('are more when runs are shared, as far as that makes a pass cheaper', () => {
    const use = { name: 'a caption each second', passesPerSecond: 1, newTokens: 3 };
    expect(callsHeld({ rows: 1, encodeMs: 10, promptMs: 10, tokenMs: 5 }, use)).toBe(23);
    expect(callsHeld({ rows: 4, encodeMs: 20, promptMs: 14, tokenMs: 8 }, use)).toBe(56);
  });
});
