import { ariApp, ariUrl, asteriskMediaUrl } from '../setting-forms.ts';
import { peers, type SettingGroup, secret, text, whole } from '../setting-kinds.ts';

/** The three ways in which Asterisk connects: chan_websocket, ARI and AudioSocket. */
export const asterisk = {
  title: 'Asterisk',
  part: 'asterisk',
  prefixes: ['ASTERISK_'],
  everyday: {
    ASTERISK_PASSWORD: secret(
      'password',
      'Password that Asterisk sends with it. Empty = only this machine may connect to /asterisk/media.',
    ),
    ARI_URL: ariUrl('REST interface of an Asterisk (…/ari) that hands over its calls through Stasis. Empty = none.'),
    ARI_USER: text('trunkline', 'name', 'User in ari.conf of that Asterisk.'),
    ARI_PASSWORD: secret('password', 'Password of that user.'),
    AUDIOSOCKET_PORT: whole(
      0,
      0,
      65535,
      'port',
      'TCP port on which the server accepts AudioSocket connections, on HOST. 0 = none.',
    ),
  },
  further: {
    ASTERISK_USER: text(
      'asterisk',
      'name',
      'Username that Asterisk sends when it connects to /asterisk/media (username in websocket_client.conf).',
    ),
    AUDIOSOCKET_ALLOW: peers(
      'Addresses that may connect to AUDIOSOCKET_PORT. AudioSocket has no credentials; others are disconnected.',
    ),
    ARI_APP: ariApp('Name of this server in the dialplan: Stasis(trunkline,…). Each server needs a name of its own.'),
    ASTERISK_MEDIA_URL: asteriskMediaUrl(
      'Address of that Asterisk to which the server connects for the audio of ARI calls (…/media). ' +
        'Empty = derived from ARI_URL.',
    ),
  },
} as const satisfies SettingGroup;
