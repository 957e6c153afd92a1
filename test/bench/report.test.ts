import { describe, expect, it } from 'vitest';
import { figure, mean, quantile } from './report.ts';

describe('the figures of a report', () => {
  it('take the quantile of values in any order', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([0, 0.5, 0.95, 0.99, 1].map((share) => quantile(values, share))).toEqual([1, 51, 96, 100, 100]);
  });

  it('do not make one up where there is nothing', () => {
    expect([figure(quantile([], 0.95)), figure(mean([])), figure(Number.POSITIVE_INFINITY)]).toEqual(['–', '–', '–']);
  });

  it('have as many decimals as they are asked for', () => {
    expect([figure(mean([1, 2]), 2), figure(1.25)]).toEqual(['1.50', '1']);
  });
});
