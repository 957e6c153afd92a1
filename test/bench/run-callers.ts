/** Starts the phones of a load benchmark, `callers.ts`, in a process of their own. */
import { spawn } from 'node:child_process';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import type { CallersReport, CallersTask } from './callers.ts';

const TWILIO = { carrier: 'twilio', environment: {}, spokenTo: 0 } as const;

/** Places the calls of `order`, as Twilio unless it says otherwise. Resolves when they have ended. */
export async function runCallers(
  order: Pick<CallersTask, 'url' | 'calls' | 'seconds'> & Partial<CallersTask>,
): Promise<CallersReport> {
  const script = packagePath('test', 'bench', 'callers.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify({ ...TWILIO, ...order })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => said.push(data));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`the callers ended with ${code}`);
  return JSON.parse(Buffer.concat(said).toString()) as CallersReport;
}
