// Serves from dist with other values of constants, which neither the environment nor trunkline.yaml can give.
import { ConfigError, EXIT_CONFIG, loadSettings } from '../../dist/src/foundation/settings/config.js';
import { serve } from '../../dist/src/gateway/serve.js';

try {
  await serve(loadSettings({ constants: JSON.parse(process.argv[2] ?? '{}') }));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(EXIT_CONFIG);
}
