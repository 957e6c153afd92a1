// Serves from dist with other values of constants, which neither the environment nor trunkline.yaml can give.
import { loadSettings } from '../../dist/src/foundation/settings/config.js';
import { serve } from '../../dist/src/gateway/serve.js';

await serve(loadSettings({ constants: JSON.parse(process.argv[2] ?? '{}') }));
