import { describe, expect, it } from 'vitest';
import { admitCall } from '../../../src/calls/admission/admission.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';

describe('admitCall', () => {
  const calm = { liveCount: 3, maxCalls: 10, firmLoad: 0.4, lateCount: 0, draining: false };

  function refusal(occupancy: typeof calm): TrunklineError {
    try {
      admitCall(occupancy);
    } catch (error) {
      if (error instanceof TrunklineError) return error;
    }
    throw new Error('the call was admitted');
  }

  it('lets a call in where there is room', () => {
    expect(() => admitCall(calm)).not.toThrow();
    expect(() => admitCall({ ...calm, liveCount: 9, firmLoad: 0.84 })).not.toThrow();
  });

  it('refuses one more than MAX_CALLS and names the limit', () => {
    const error = refusal({ ...calm, liveCount: 10 });
    expect(error.code).toBe('too_many_calls');
    expect(error.message).toContain('10 calls are live');
    expect(error.message).toContain('MAX_CALLS');
  });

  it('refuses a call when live calls take the engines whole', () => {
    const error = refusal({ ...calm, firmLoad: 0.97 });
    expect(error.code).toBe('too_many_calls');
    expect(error.message).toContain("97 % of the engines' time");
  });

  it('refuses a call while captions of many come late, however idle the engines seem', () => {
    const error = refusal({ ...calm, liveCount: 9, lateCount: 2, firmLoad: 0 });
    expect(error.code).toBe('too_many_calls');
    expect(error.message).toContain('captions of 2 of 9 calls come late');
  });

  it('does not mind one call that is late, nor a few of very many', () => {
    expect(() => admitCall({ ...calm, liveCount: 1, lateCount: 1 })).not.toThrow();
    expect(() => admitCall({ ...calm, liveCount: 40, maxCalls: 100, lateCount: 7 })).not.toThrow();
    expect(() => admitCall({ ...calm, liveCount: 40, maxCalls: 100, lateCount: 8 })).toThrow();
  });

  it('lets the first call in whatever the load was a moment ago', () => {
    expect(() => admitCall({ ...calm, liveCount: 0, firmLoad: 1 })).not.toThrow();
  });

  it('refuses everything while draining, and says so first', () => {
    expect(refusal({ liveCount: 10, maxCalls: 10, firmLoad: 1, lateCount: 10, draining: true }).code).toBe('draining');
  });
});
