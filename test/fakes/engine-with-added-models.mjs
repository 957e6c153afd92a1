/** An engine process whose model table has more rows, from the sources as they are. */
import { register } from 'tsx/esm/api';

register();
const { EngineHost } = await import('../../engine/host.ts');
const { MODEL_TABLE } = await import('../../engine/models/model-table.ts');
const { systemTime } = await import('../../engine/time.ts');
const { ADDED_MODELS } = await import('./added-models.ts');

const outlet = { send: (message) => process.send(message), leave: () => process.disconnect() };
const host = new EngineHost({ time: systemTime, outlet, table: [...MODEL_TABLE, ...ADDED_MODELS] });
process.on('message', (message) => host.receive(message));
process.on('disconnect', () => host.abandon());
