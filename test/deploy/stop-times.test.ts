import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { EXIT_CONFIG, readSettings } from '../../src/foundation/settings/config.ts';
import { readText } from '../docs/markdown.ts';

/** What a gateway may take to end after its calls, and then some (`close` of src/gateway/main.ts waits 12 s a part). */
const AFTER_CALLS_MS = 30_000;

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly networks?: { readonly inside?: { readonly ipv4_address: string } };
}

/** The values of `key` in a unit, the last one being the one that counts. */
const valuesOf = (unit: string, key: string): string[] =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

/** Variables of Compose as in an environment without any: a default, the example `such as ...`, or 32 characters. */
const withDefaults = (value: string): string =>
  value.replace(/\$\{\w+:(?:-([^}]*)|\?(?:such as )?([^}]*))\}/g, (all, fallback?: string, example?: string) =>
    all.includes('such as') ? (example ?? '') : (fallback ?? 'x'.repeat(32)),
  );

describe('the systemd unit', () => {
  const unit = readText('deploy/systemd/trunkline.service');
  const environment = Object.fromEntries(
    valuesOf(unit, 'Environment').flatMap((line) => line.split(' ').map((pair) => pair.split('='))),
  );

  it('has settings that a gateway takes, and gives it the time that they ask for', () => {
    const { DRAIN_TIMEOUT_MS } = readSettings(environment);
    expect(Number(valuesOf(unit, 'TimeoutStopSec').at(-1)) * 1000).toBe(DRAIN_TIMEOUT_MS + AFTER_CALLS_MS);
  });

  it('does not start a gateway again whose settings are wrong', () => {
    expect(valuesOf(unit, 'RestartPreventExitStatus')).toEqual([String(EXIT_CONFIG)]);
  });
});

describe.each(readdirSync(packagePath('deploy', 'compose')))('the Compose file for %s', (name) => {
  const { services } = parse(readText(`deploy/compose/${name}/compose.yaml`), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
  };
  const gateways = Object.entries(services).filter(([service]) => service.startsWith('gateway'));

  it.each(gateways)('gives %s settings that it takes, and the time that they ask for', (_service, gateway) => {
    const environment = Object.entries(gateway.environment ?? {}).map(([key, value]) => [key, withDefaults(value)]);
    const { DRAIN_TIMEOUT_MS } = readSettings({ HOST: '0.0.0.0', ...Object.fromEntries(environment) });
    expect(Number.parseInt(gateway.stop_grace_period ?? '', 10) * 1000).toBe(DRAIN_TIMEOUT_MS + AFTER_CALLS_MS);
  });

  it('starts a gateway', () => {
    expect(gateways.length).toBeGreaterThan(0);
  });
});

describe('the proxy of three gateways', () => {
  const { services } = parse(readText('deploy/compose/three/compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
  };
  const addressOf = (service: string) => services[service]?.networks?.inside?.ipv4_address;
  const gateways = Object.keys(services).filter((service) => service.startsWith('gateway'));

  it('asks every gateway, as Prometheus does, and is the only one that they believe', () => {
    const lists = [...readText('deploy/compose/three/nginx.conf').matchAll(/^ {4}upstream [^}]+\}/gm)];
    const addresses = gateways.map((gateway) => `${addressOf(gateway)}:8080`);
    expect(lists).toHaveLength(2);
    for (const [list] of lists)
      expect([...list.matchAll(/^\s+server ([\d.]+:\d+)/gm)].map(([, address]) => address)).toEqual(addresses);
    const { scrape_configs: jobs } = parse(readText('deploy/compose/three/prometheus.yaml')) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    expect(jobs.flatMap((job) => job.static_configs.flatMap(({ targets }) => targets))).toEqual(addresses);
    expect(gateways.map((gateway) => services[gateway]?.environment?.['TRUSTED_PROXIES'])).toEqual(
      gateways.map(() => addressOf('proxy')),
    );
  });

  it('is told where each gateway is reached by the others', () => {
    expect(gateways.map((gateway) => services[gateway]?.environment?.['GATEWAY_URL'])).toEqual(
      gateways.map((gateway) => `http://${addressOf(gateway)}:8080`),
    );
  });
});
