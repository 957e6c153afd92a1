/** The process of `trunkline serve`: a gateway, its log, its signals and its exit codes. */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename } from 'node:path';
import { workersOf } from '../engine-client/engine-client-factory.ts';
import type { EngineStartListener } from '../engine-client/start-listener.ts';
import { packagePath } from '../foundation/folders/paths.ts';
import { ListenError } from '../foundation/listen.ts';
import { createLog, type Log, logFormatOf, writeForPeople } from '../foundation/log/log.ts';
import { ConfigError, EXIT_CONFIG } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { voiceInUse } from '../speech/voice-in-use.ts';
import { findDepartures } from './departures.ts';
import { type Gateway, type GatewayOptions, runGateway } from './main.ts';
import { readyLine, startLines } from './start-lines.ts';

/**
 * Runs a gateway as the only task of this process. SIGTERM and SIGINT drain it and end the process with 0; a second
 * signal ends it at once. Settings that the engine refuses end it with 78, all other failures with 1, each after a
 * fatal log line.
 */
export async function serve(settings: Settings): Promise<void> {
  const format = logFormatOf(settings);
  const log = createLog(settings.LOG_LEVEL, undefined, format);
  // A thrown value may throw again when it is read. In the handler of uncaught exceptions that would end the process
  // with 7 and without a log line.
  const die = (exitCode: number, message: string, err?: unknown): never => {
    try {
      log.fatal({ err }, message);
    } catch {
      log.fatal(`${message}, and its value cannot be logged`);
    } finally {
      process.exit(exitCode);
    }
  };
  process.on('uncaughtException', (error) => die(1, 'uncaught exception', error));
  process.on('unhandledRejection', (reason) => die(1, 'unhandled rejection', reason));
  const greeting = format === 'pretty' && log.isLevelEnabled('info') ? greetPeople(settings) : {};
  let isStuck = false;
  const onStuck = (): void => {
    isStuck = true;
  };
  const onRefused = (message: string): void => die(EXIT_CONFIG, message);
  const starting = runGateway(settings, { log, onRefused, onStuck, ...greeting });
  endOnSignals(starting, log, () => isStuck);
  try {
    await starting;
  } catch (error) {
    if (error instanceof ConfigError) die(EXIT_CONFIG, error.message);
    if (error instanceof ListenError) die(1, error.message);
    die(1, 'cannot start', error);
  }
}

/** Tells a person on a terminal where the gateway is and, once, that it is ready. */
function greetPeople(settings: Settings): Pick<GatewayOptions, 'onListening' | 'engineWatcher'> {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  let isToldReady = false;
  const onReady: EngineStartListener['onReady'] = (ready, workers, { voices, turnModel }) => {
    const finalModel = basename(settings.ASR_FINAL_MODEL);
    const used = { finalModel, voice: voiceInUse(settings, voices), turnModel };
    if (!isToldReady) writeForPeople([readyLine(ready, workers, used)]);
    isToldReady = true;
  };
  return {
    onListening: (url, kept, users) => {
      const facts = { version, url, workers: workersOf(settings), kept, users, departures: findDepartures(settings) };
      writeForPeople(startLines(settings, facts));
    },
    engineWatcher: { onProgress: () => undefined, onReady },
  };
}

/** Ends as the signal does by itself: `process.exit` would wait for threads, which may wait for a stuck disk. */
function exitBy(signal: 'SIGTERM' | 'SIGINT'): never {
  process.removeAllListeners(signal);
  // After the listeners that write what the log still holds.
  process.once('exit', () => process.kill(process.pid, signal));
  process.exit(128 + constants.signals[signal]);
}

/** From the first moment on: whoever has read that it listens may send a signal. */
function endOnSignals(starting: Promise<Gateway>, log: Log, isStuck: () => boolean): void {
  let isEnding = false;
  const end = async (signal: 'SIGTERM' | 'SIGINT') => {
    if (isEnding) {
      log.warn({ signal }, 'second signal, ending at once');
      exitBy(signal);
    }
    isEnding = true;
    log.info({ signal }, 'draining');
    await (await starting).close();
    log.info('ended');
    if (isStuck()) exitBy(signal);
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal));
}
