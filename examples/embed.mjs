/**
 * Runs Trunkline inside a program of your own and prints the captions of all calls.
 *
 *   npm run build && node examples/embed.mjs
 */
import { readSettings, runGateway } from 'trunkline';

const settings = readSettings();
const gateway = await runGateway({ ...settings, LOG_LEVEL: 'warn' });
console.log(`listening on ${gateway.url}`);

gateway.subscribe((event) => {
  switch (event.type) {
    case 'call.started':
      console.log(`${event.callId}: call from ${event.from ?? 'unknown'}`);
      break;
    case 'caption':
      if (event.final) console.log(`${event.callId}: ${event.track}: ${event.text}`);
      break;
    case 'call.ended': {
      const call = gateway.calls().find(({ id }) => id === event.callId);
      console.log(`${event.callId}: ${event.reason} after ${call?.durationMs ?? event.durationMs} ms`);
    }
  }
});

process.once('SIGTERM', () => gateway.close());
process.once('SIGINT', () => gateway.close());
