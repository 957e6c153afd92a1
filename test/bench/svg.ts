/** Plots as SVG text: curves and stacked bars with axes and units, readable on light and on dark pages. Pure. */

const WIDTH = 760;
const HEIGHT = 400;
/** Room around the plotted area: title and one line of legend above, marks and names of the axes beside and below. */
const EDGE = { top: 70, right: 24, bottom: 58, left: 68 };
const AREA = { width: WIDTH - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom };
const MARKS = 5;
/** Widest letter of the legend's font, on average. */
const LETTER_WIDTH = 6.6;
const LEGEND_SWATCH = 24;
const LEGEND_LINE = 18;

/**
 * One colour for each series, told apart by people who do not see all colours (Okabe and Ito), as CSS classes `c0` …
 */
const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c8c8c'];

/** An axis: what it counts, with the unit. Both begin at 0. */
export interface Axis {
  readonly label: string;
}

/** Named points, in the order of their x. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** Curves over a common x, and lines that one should stay below. */
export interface LinePlot {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  readonly limits?: readonly { readonly name: string; readonly y: number }[];
}

/** Groups of bars; in a stacked plot a group's values lie on one another, otherwise side by side. */
export interface BarPlot {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly isStacked: boolean;
  /** What the n-th value of each group is. */
  readonly names: readonly string[];
  readonly groups: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/**
 * Round numbers from 0 to at least `most`, about `count` of them, as an axis shows them; [0, 1] where there is nothing
 * to show.
 */
export function axisMarks(most: number, count = MARKS): number[] {
  if (!(most > 0) || !Number.isFinite(most)) return [0, 1];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const steps = Math.ceil(most / step - 1e-9);
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Curves. Points without a value are left out. */
export function linePlot(plot: LinePlot): string {
  const series = plot.series.map(({ name, points }) => ({
    name,
    points: points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)),
  }));
  const limits = plot.limits ?? [];
  const xs = series.flatMap(({ points }) => points.map(([x]) => x));
  const ys = [...series.flatMap(({ points }) => points.map(([, y]) => y)), ...limits.map(({ y }) => y)];
  const across = scaleOf(xs, AREA.width);
  const up = scaleOf(ys, AREA.height);
  const at = (x: number, y: number) => [EDGE.left + across.place(x), EDGE.top + AREA.height - up.place(y)] as const;
  const limitLines = limits.map(({ name, y }) => {
    const height = at(0, y)[1];
    const limit = line(EDGE.left, height, WIDTH - EDGE.right, height, 'limit');
    return limit + text(WIDTH - EDGE.right - 4, height - 6, name, 'mark end');
  });
  const curves = series.map(({ points }, index) => {
    const places = points.map(([x, y]) => at(x, y));
    const path = places.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
    const dots = places.map(([x, y]) => `<circle class="${colour(index)}" cx="${round(x)}" cy="${round(y)}" r="3.5"/>`);
    return `<polyline class="curve ${colour(index)}" points="${path}"/>${dots.join('')}`;
  });
  const xMarks = across.marks.map((mark) =>
    text(at(mark, 0)[0], HEIGHT - EDGE.bottom + 18, numberText(mark), 'mark middle'),
  );
  return page(
    plot,
    series.map(({ name }) => name),
    [...grid(up), ...xMarks, ...limitLines, ...curves],
  );
}

/** Bars, one group beside the other. */
export function barPlot(plot: BarPlot): string {
  const tops = plot.groups.flatMap(({ values }) =>
    plot.isStacked ? [values.reduce((sum, value) => sum + finite(value), 0)] : values.map(finite),
  );
  const up = scaleOf(tops, AREA.height);
  const slot = AREA.width / Math.max(plot.groups.length, 1);
  const bars = plot.groups.map((group, index) => {
    const middle = EDGE.left + slot * (index + 0.5);
    const name = text(middle, HEIGHT - EDGE.bottom + 18, group.name, 'mark middle');
    return name + (plot.isStacked ? stack(group.values, up, middle, slot) : beside(group.values, up, middle, slot));
  });
  return page(plot, plot.names, [...grid(up), ...bars]);
}

function stack(values: readonly number[], up: Scale, middle: number, slot: number): string {
  const width = Math.min(slot * 0.5, 90);
  let below = 0;
  const parts = values.map((value, index) => {
    const [from, to] = [up.place(below), up.place(below + finite(value))];
    below += finite(value);
    return bar(middle - width / 2, to, width, to - from, index);
  });
  return parts.join('') + text(middle, EDGE.top + AREA.height - up.place(below) - 6, numberText(below), 'mark middle');
}

function beside(values: readonly number[], up: Scale, middle: number, slot: number): string {
  const width = Math.min((slot * 0.75) / Math.max(values.length, 1), 70);
  const left = middle - (width * values.length) / 2;
  const parts = values.map((value, index) => {
    if (!Number.isFinite(value)) return '';
    const height = up.place(value);
    const label = text(
      left + width * (index + 0.5),
      EDGE.top + AREA.height - height - 6,
      numberText(value),
      'mark middle',
    );
    return bar(left + width * index, height, width - 2, height, index) + label;
  });
  return parts.join('');
}

/** `top` and `height` in pixels above the x axis. */
function bar(x: number, top: number, width: number, height: number, index: number): string {
  const y = EDGE.top + AREA.height - top;
  return (
    `<rect class="${colour(index)}" x="${round(x)}" y="${round(y)}" width="${round(width)}" ` +
    `height="${round(Math.max(height, 0))}"/>`
  );
}

interface Scale {
  readonly marks: readonly number[];
  /** Pixels from the start of the axis. */
  place(value: number): number;
}

function scaleOf(values: readonly number[], pixels: number): Scale {
  const marks = axisMarks(Math.max(0, ...values));
  const most = marks.at(-1) ?? 1;
  return { marks, place: (value) => (Math.max(value, 0) / most) * pixels };
}

function grid(up: Scale): string[] {
  return up.marks.map((mark) => {
    const y = EDGE.top + AREA.height - up.place(mark);
    return line(EDGE.left, y, WIDTH - EDGE.right, y, 'grid') + text(EDGE.left - 8, y + 4, numberText(mark), 'mark end');
  });
}

function page(
  plot: { readonly title: string; readonly x: Axis; readonly y: Axis },
  names: readonly string[],
  body: readonly string[],
): string {
  const { entries, lines } = legend(names);
  const lower = (lines - 1) * LEGEND_LINE;
  const foot = HEIGHT - EDGE.bottom;
  const middle = EDGE.top + AREA.height / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + lower}" role="img" ` +
      `aria-label="${escaped(plot.title)}">`,
    `<style>${STYLE}</style>`,
    text(EDGE.left, 24, plot.title, 'title'),
    ...entries,
    `<g transform="translate(0 ${lower})">`,
    ...body,
    line(EDGE.left, foot, WIDTH - EDGE.right, foot, 'axis'),
    text(EDGE.left + AREA.width / 2, HEIGHT - 14, plot.x.label, 'name middle'),
    `<text class="name middle" x="16" y="${middle}" transform="rotate(-90 16 ` +
      `${middle})">${escaped(plot.y.label)}</text>`,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** One entry after the other, on as many lines as that takes. */
function legend(names: readonly string[]): { entries: string[]; lines: number } {
  let [x, lines] = [EDGE.left, 1];
  const entries = names.map((name, index) => {
    const width = LEGEND_SWATCH + name.length * LETTER_WIDTH;
    if (x > EDGE.left && x + width > WIDTH) {
      x = EDGE.left;
      lines++;
    }
    const y = 46 + (lines - 1) * LEGEND_LINE;
    const entry =
      `<rect class="${colour(index)}" x="${round(x)}" y="${y - 9}" width="12" ` +
      `height="10"/>${text(x + 17, y, name, 'mark')}`;
    x += width;
    return entry;
  });
  return { entries, lines };
}

const STYLE = [
  'text{font:12px ' +
    'system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}.name{font-size:13px}.middle{text-anchor:middle}.end{text-anchor:end}',
  '.grid{stroke:#ddd}.axis{stroke:#666}.limit{stroke:#c33;stroke-dasharray:6 4}.curve{fill:none;stroke-width:2}',
  ...COLOURS.map((value, index) => `.c${index}{fill:${value}}.curve.c${index}{fill:none;stroke:${value}}`),
  '@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.axis{stroke:#aaa}.limit{stroke:#f77}}',
].join('');

function colour(index: number): string {
  return `c${index % COLOURS.length}`;
}

function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
}

function text(x: number, y: number, content: string, kind: string): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}">${escaped(content)}</text>`;
}

/** Three digits are enough to read off a plot. */
function numberText(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}
