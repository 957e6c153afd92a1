/**
 * An engine process. The gateway forks it with `serialization: 'advanced'`, sends `configure`, waits for `ready` and
 * sends jobs.
 *
 * It ends only of itself, when its IPC channel is closed and nothing is left to do: `process.exit()` while a model runs
 * would abort it (SIGABRT).
 */
import { EXIT_WRONG_SETTINGS, type FromEngine } from './contract.ts';
import { EngineHost } from './host.ts';
import { systemTime } from './time.ts';

/** Resolves when the last message has been handed to the gateway. */
let sent: Promise<void> = Promise.resolve();

function send(message: FromEngine): void {
  if (!process.connected) return;
  sent = new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => resolve());
  });
}

async function leave(reason: 'refused' | 'finished'): Promise<void> {
  process.exitCode = reason === 'refused' ? EXIT_WRONG_SETTINGS : 0;
  await sent;
  if (process.connected) process.disconnect();
}

const host = new EngineHost({ time: systemTime, outlet: { send, leave: (reason) => void leave(reason) } });

if (process.send === undefined) {
  process.stderr.write('This is an engine process of Trunkline; the gateway starts it: npm start\n');
  process.exitCode = EXIT_WRONG_SETTINGS;
}
process.on('message', (message) => host.receive(message));
process.on('disconnect', () => host.abandon());
process.on('SIGTERM', () => host.drain());
// Ctrl-C reaches the whole process group, but the gateway's last calls still need their engine: it drains this process
// in its own time.
process.on('SIGINT', () => undefined);
