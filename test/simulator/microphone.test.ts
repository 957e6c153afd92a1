import { describe, expect, it } from 'vitest';
import { Microphone } from '../../src/simulator/microphone.ts';

describe('a microphone', () => {
  it('is silent until it is spoken into', () => {
    const microphone = new Microphone(2);
    expect(microphone.speak(Int16Array.of(1, 2, 3, 4, 5, 6, 7, 8), 0.5)).toBe(1.5);
    expect([...microphone.track]).toEqual([0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0]);
  });

  it('loses what is said when the call is over', () => {
    const microphone = new Microphone(1);
    microphone.speak(Int16Array.of(1, 2, 3, 4), 0.75);
    microphone.speak(Int16Array.of(9), 5);
    expect([...microphone.track]).toEqual([0, 0, 0, 0, 0, 0, 1, 2]);
  });
});
