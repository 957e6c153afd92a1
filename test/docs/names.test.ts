/** Settings and metrics that documents name exist. */
import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';
import { SETTINGS } from '../../src/foundation/settings/settings.ts';
import { markdownFiles, readText } from './markdown.ts';

/** What people read to run Trunkline; the internals and the changelog tell of earlier names too. */
const PAGES = markdownFiles().filter((file) => file === 'README.md' || /^docs\/(?:guide|reference)\//.test(file));

/** Names of other programs, codes of other servers, and what only the command line reads. */
const FOREIGN = new Set([
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
  'XDG_CONFIG_HOME',
  'TRUNKLINE_CONFIG',
  // Of systemd, and of an example.
  'CREDENTIALS_DIRECTORY',
  'APP_HOST',
  'LD_LIBRARY_PATH',
  'IN_PROGRESS',
  'TRUNKLINE_HANDOFF',
  'TRUNKLINE_STATUS',
  'TRUNKLINE_URL',
  'TRUNKLINE_KEY',
  'NODE_EXTRA_CA_CERTS',
  // Variables of FreeSWITCH's modules.
  'MOD_AUDIO_BASIC_AUTH_PASSWORD',
  'MOD_AUDIO_FORK_HTTP_AUTH_PASSWORD',
  'STREAM_EXTRA_HEADERS',
  // Of Deepgram's SDK for Go.
  'DEEPGRAM_HOST',
  // Of certbot.
  'RENEWED_LINEAGE',
  'SSL_CERT_FILE',
  // Variables of deploy/compose and keys of its Helm chart.
  'METRICS_KEY',
  'TRUNKLINE_IMAGE',
  // Tensors of Triton's models.
  'WAV_LENS',
  'TEXT_PREFIX',
  // Deepgram's codes of errors and warnings.
  'INVALID_AUTH',
  'INSUFFICIENT_PERMISSIONS',
  'PAYLOAD_TOO_LARGE',
  'TOO_MANY_REQUESTS',
  'NO_ACTIVE_SPEECH',
  'SPEECH_SKIPPED',
  // Errors of TLS, and suites of SRTP.
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'AES_CM_128_HMAC_SHA1_80',
  'AES_CM_128_HMAC_SHA1_32',
  'UNENCRYPTED_SRTP',
  // Read by OpenTelemetry itself.
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_KEY',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
]);
const FOREIGN_PAGES = ['docs/reference/qwen3-servers.md'];

/** The names in upper case with `_` on the pages, but for those that have codes of another server. */
function settingsNamed(page: string): string[] {
  if (FOREIGN_PAGES.includes(page)) return [];
  const names = [...readText(page).matchAll(/(?<![\w-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w-])/g)].map(([name]) => name);
  return names.filter((name) => !FOREIGN.has(name));
}

describe('the pages for users', () => {
  it.each(PAGES)('%s names settings that exist', (page) => {
    expect(settingsNamed(page).filter((name) => !(name in SETTINGS))).toEqual([]);
  });

  // `$` marks a variable of nginx.
  it.each(PAGES)('%s names metrics that exist', async (page) => {
    const known = new Set((await new Metrics().registry.getMetricsAsJSON()).map(({ name }) => name));
    const named = [...readText(page).matchAll(/(?<!\$)\btrunkline_\w+/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('name many of both', () => {
    expect(new Set(PAGES.flatMap(settingsNamed)).size).toBeGreaterThan(60);
  });
});
