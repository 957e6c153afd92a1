/**
 * Ends answers of the collector that take too long. The exporter's own limit is one of silence: a collector that sends
 * a byte now and then would keep a connection for weeks, and with thirty of them nothing is sent any more.
 */
import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { convertLegacyHttpOptions } from '@opentelemetry/otlp-exporter-base/node-http';
import type { Clock, Timer } from '../foundation/clock.ts';

/** The exporter ends what is silent before this ends the rest. */
const GRACE_MS = 500;

/**
 * Makes the exporter's usual agent, with the certificates of its environment, whose connections are closed when a
 * request has one for half a second longer than `timeoutMs`.
 */
export function collectorAgent(clock: Clock, timeoutMs: number): (protocol: string) => Promise<Agent> {
  const { agentFactory } = convertLegacyHttpOptions({}, 'TRACES', 'v1/traces', {});
  return async (protocol) => limited(await agentFactory(protocol), clock, timeoutMs + GRACE_MS);
}

/** https://nodejs.org/api/http.html#class-httpagent has the three moments of a connection. */
function limited(agent: Agent, clock: Clock, maxMs: number): Agent {
  const timers = new WeakMap<Duplex, Timer>();
  const disarm = (socket: Duplex): void => timers.get(socket)?.cancel();
  const arm = (socket: Duplex): void => {
    disarm(socket);
    timers.set(
      socket,
      clock.after(maxMs, () => socket.destroy(), true),
    );
  };
  const { createConnection, keepSocketAlive, reuseSocket } = agent;
  agent.createConnection = function (...args) {
    const socket = createConnection.apply(this, args);
    if (socket) {
      arm(socket);
      socket.once('close', () => disarm(socket));
    }
    return socket;
  };
  agent.keepSocketAlive = function (socket) {
    disarm(socket);
    return keepSocketAlive.call(this, socket);
  };
  agent.reuseSocket = function (socket, request) {
    arm(socket);
    reuseSocket.call(this, socket, request);
  };
  return agent;
}
