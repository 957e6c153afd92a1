/** When is what one test socket sent to another there? */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';

const probe = createSocket('udp4').unref();

/**
 * Lets what was sent over loopback arrive and be read. A busy machine may deliver it later than the next turn of the
 * loop, but in the order in which it was sent: when a datagram of our own has come back, all before it are there.
 */
export async function delivered(): Promise<void> {
  if (probe.listenerCount('message') === 0) await bind();
  const back = once(probe, 'message');
  probe.send('', probe.address().port, '127.0.0.1');
  await back;
  await setImmediate();
}

async function bind(): Promise<void> {
  probe.on('message', () => undefined);
  probe.bind(0, '127.0.0.1');
  await once(probe, 'listening');
}
