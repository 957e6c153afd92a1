/** The check of `trunkline doctor` for Asterisk's REST interface: whether ARI_URL leads to one that takes us. */
import { systemClock } from '../../foundation/clock.ts';
import type { Finding } from '../../foundation/finding.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { isObject } from '../../protocols/json.ts';
import { Ari, AriError, isGone } from './ari/ari.ts';

const NAME = 'asterisk';

type AriSettings = Pick<Settings, 'ARI_URL' | 'ARI_USER' | 'ARI_PASSWORD' | 'ARI_APP'>;

/** One finding where ARI_URL is set; nothing where it is not. It changes nothing in Asterisk. */
export async function checkAsterisk(settings: AriSettings): Promise<Finding[]> {
  if (settings.ARI_URL === '') return [];
  try {
    return [await examine(new Ari(settings, systemClock), settings.ARI_APP)];
  } catch (error) {
    if (error instanceof AriError) return [{ name: NAME, status: 'fail', detail: error.message }];
    throw error;
  }
}

async function examine(ari: Ari, app: string): Promise<Finding> {
  const version = versionIn(await ari.get('/asterisk/info'));
  await checkWriting(ari, app);
  if (!(await isThere(ari, '/asterisk/modules/chan_websocket.so'))) {
    const detail =
      `Asterisk ${version} takes us, but brings no sound: chan_websocket.so is not loaded ` +
      '(Asterisk 20.16, 21.11, 22.6, 23.0 and later have it)';
    return { name: NAME, status: 'fail', detail };
  }
  if (await isThere(ari, `/applications/${app}`))
    return { name: NAME, status: 'ok', detail: `ARI of Asterisk ${version}, with the application ${app}` };
  const detail =
    `ARI of Asterisk ${version} takes us, but has no application ${app}: Stasis(${app}) fails until a Trunkline with ` +
    'ARI_APP of that name is connected';
  return { name: NAME, status: 'warn', detail };
}

/** A request that lacks what it is about is refused as such, unless its user may only read. */
async function checkWriting(ari: Ari, app: string): Promise<void> {
  try {
    await ari.post(`/applications/${app}/subscription`);
  } catch (error) {
    if (!(error instanceof AriError) || error.answered !== 400) throw error;
  }
}

async function isThere(ari: Ari, path: string): Promise<boolean> {
  try {
    await ari.get(path);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

function versionIn(info: unknown): string {
  const system = isObject(info) && isObject(info['system']) ? info['system'] : {};
  const version = system['version'];
  return typeof version === 'string' ? version.slice(0, 64) : 'of an unknown release';
}
