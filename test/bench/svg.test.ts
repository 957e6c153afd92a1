import { describe, expect, it } from 'vitest';
import { axisMarks, barPlot, linePlot } from './svg.ts';

const numbers = (svg: string, tag: string, attribute: string) =>
  [...svg.matchAll(new RegExp(`<${tag} [^>]*\\b${attribute}="([^"]*)"`, 'g'))].map(([, value]) => Number(value));

describe('the marks of an axis', () => {
  it.each([
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [624, [0, 200, 400, 600, 800]],
    [0.043, [0, 0.01, 0.02, 0.03, 0.04, 0.05]],
    [40, [0, 10, 20, 30, 40]],
  ])('are round numbers up to what %f needs', (most, marks) => {
    expect(axisMarks(most)).toEqual(marks);
  });

  it.each([0, -3, Number.NaN, Number.POSITIVE_INFINITY])('are there when there is nothing to show (%f)', (most) => {
    expect(axisMarks(most)).toEqual([0, 1]);
  });
});

describe('a plot of curves', () => {
  const plot = { title: 'calls & "lag"', x: { label: 'calls' }, y: { label: 'ms' } };

  it('puts higher values higher and later ones to the right', () => {
    const points = [[1, 10] as const, [2, 30] as const, [3, 20] as const];
    const svg = linePlot({ ...plot, series: [{ name: 'p95', points }] });
    const [x, y] = [numbers(svg, 'circle', 'cx'), numbers(svg, 'circle', 'cy')];
    expect(x).toEqual(x.toSorted((a, b) => a - b));
    expect(y[1]).toBeLessThan(y[2] ?? 0);
    expect(y[2]).toBeLessThan(y[0] ?? 0);
  });

  it('leaves out what has no value, and names axes and title in valid XML', () => {
    const points = [[1, Number.NaN] as const, [2, 5] as const];
    const svg = linePlot({ ...plot, series: [{ name: 'a<b', points }] });
    expect(numbers(svg, 'circle', 'cx')).toHaveLength(1);
    expect(svg).toContain('calls &amp; &quot;lag&quot;');
    expect(svg).toContain('a&lt;b');
    expect(svg).not.toContain('NaN');
  });
});

describe('a plot of bars', () => {
  const plot = { title: 't', x: { label: 'speech' }, y: { label: 'ms' }, names: ['encoder', 'decoder'] };
  const groups = [{ name: '1 s', values: [30, 10] }];

  it('stacks the values of a group on one another', () => {
    const svg = barPlot({ ...plot, isStacked: true, groups });
    const [y, height] = [numbers(svg, 'rect', 'y').slice(2), numbers(svg, 'rect', 'height').slice(2)];
    expect((y[1] ?? 0) + (height[1] ?? 0)).toBeCloseTo(y[0] ?? 0, 0);
    expect(height[0]).toBeCloseTo(3 * (height[1] ?? 0), 0);
  });

  it('puts them side by side otherwise', () => {
    const svg = barPlot({ ...plot, isStacked: false, groups });
    const [x, y, height] = ['x', 'y', 'height'].map((name) => numbers(svg, 'rect', name).slice(2));
    expect(x?.[1]).toBeGreaterThan(x?.[0] ?? 0);
    expect((y?.[0] ?? 0) + (height?.[0] ?? 0)).toBeCloseTo((y?.[1] ?? 0) + (height?.[1] ?? 0), 0);
  });

  it('makes room for a legend of several lines', () => {
    const height = (names: readonly string[]) =>
      Number(/viewBox="0 0 \d+ (\d+)"/.exec(barPlot({ ...plot, names, isStacked: true, groups }))?.[1]);
    expect(height(Array.from({ length: 9 }, () => 'a name of some length'))).toBeGreaterThan(height(['short']));
  });
});
