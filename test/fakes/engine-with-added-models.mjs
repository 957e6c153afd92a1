/** The built engine as a process, with a model table that has more rows. */
import { EngineHost } from '../../dist/engine/host.js';
import { MODEL_TABLE } from '../../dist/engine/models/model-table.js';
import { systemTime } from '../../dist/engine/time.js';
import { ADDED_MODELS } from './added-models.mjs';

const outlet = { send: (message) => process.send(message), leave: () => process.disconnect() };
const host = new EngineHost({ time: systemTime, outlet, table: [...MODEL_TABLE, ...ADDED_MODELS] });
process.on('message', (message) => host.receive(message));
process.on('disconnect', () => host.abandon());
