/** On which device the nodes of a graph ran, by onnxruntime's own profile of it. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Where the nodes of one graph ran. */
export interface Placement {
  /** Kernels by their provider, such as `CUDAExecutionProvider`. */
  readonly kernels: Readonly<Record<string, number>>;
  /** Copies between the devices: before or behind loops, and in each turn of one. */
  readonly copies: { readonly outside: number; readonly inLoop: number };
  /** Operators that ran on the CPU within a loop, each with how often. */
  readonly onCpuInLoop: Readonly<Record<string, number>>;
}

interface NodeEvent {
  readonly cat: string;
  readonly name: string;
  /** In µs. */
  readonly ts: number;
  readonly dur: number;
  readonly args: { readonly op_name?: string; readonly provider?: string };
}

const KERNEL = '_kernel_time';
const COPY = /^Memcpy(?:FromHost|ToHost)$/;

/** What the profile whose file begins with `prefix` says; the file is removed. @throws Error when there is none */
export function takePlacement(prefix: string): Placement {
  const folder = dirname(prefix);
  const name = readdirSync(folder).find((each) => each.startsWith(basename(prefix)));
  if (name === undefined) throw new Error(`onnxruntime wrote no profile ${prefix}…`);
  const events = JSON.parse(readFileSync(join(folder, name), 'utf8')) as NodeEvent[];
  rmSync(join(folder, name));
  return placementOf(events);
}

/** A node of a loop's body runs while the loop does. */
export function placementOf(events: readonly NodeEvent[]): Placement {
  const kernels = events.filter(({ cat, name }) => cat === 'Node' && name.endsWith(KERNEL));
  const loops = kernels.filter(({ args }) => args.op_name === 'Loop');
  const isInLoop = (event: NodeEvent) =>
    loops.some((loop) => loop !== event && event.ts >= loop.ts && event.ts + event.dur <= loop.ts + loop.dur);
  const copies = kernels.filter(({ args }) => COPY.test(args.op_name ?? ''));
  const inLoop = copies.filter(isInLoop).length;
  const onCpu = kernels.filter((event) => event.args.provider === 'CPUExecutionProvider' && isInLoop(event));
  return {
    kernels: count(kernels.map(({ args }) => args.provider ?? 'unknown')),
    copies: { outside: copies.length - inLoop, inLoop },
    onCpuInLoop: count(onCpu.map(({ args }) => args.op_name ?? 'unknown')),
  };
}

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
