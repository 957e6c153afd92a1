/**
 * What must follow from the values of the chart: reads what `helm template` made (first argument), and writes what is
 * Kubernetes's own to the second, without the resources of Prometheus's operator.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

const [source, target] = process.argv.slice(2);
const all = parseAllDocuments(readFileSync(source, 'utf8'))
  .map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS();
  })
  .filter((resource) => resource !== null);

const only = (kind) => all.filter((resource) => resource.kind === kind);
const [set] = only('StatefulSet');
const { template, podManagementPolicy, replicas } = set.spec;
const pod = template.spec;
const [gateway] = pod.containers;
const [{ data: settings }] = only('ConfigMap');

assert.equal(podManagementPolicy, 'Parallel');
const preStopSeconds = Number(gateway.lifecycle.preStop.exec.command[1]);
const drainSeconds = Number(settings.DRAIN_TIMEOUT_MS) / 1000;
assert.equal(pod.terminationGracePeriodSeconds, preStopSeconds + drainSeconds + 30);
if (pod.hostNetwork) assert.equal(pod.dnsPolicy, 'ClusterFirstWithHostNet');
if ('SIP_PORT' in settings) assert.equal(pod.hostNetwork, true);
for (const { spec } of only('PodDisruptionBudget')) assert.equal(spec.maxUnavailable, 1);
assert.deepEqual(
  ['livenessProbe', 'readinessProbe'].map((probe) => gateway[probe].httpGet.path),
  ['/health', '/ready'],
);

// Probes, the other gateways and Prometheus ask as the gateway speaks.
const hasTls = gateway.env.some(({ name }) => name === 'TLS_CERT');
for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
  assert.equal(gateway[probe].httpGet.scheme, hasTls ? 'HTTPS' : 'HTTP');
const mounted = gateway.volumeMounts.some(({ name, mountPath }) => name === 'tls' && mountPath === '/tls');
assert.equal(mounted && pod.volumes.some(({ name }) => name === 'tls'), hasTls);
for (const { spec } of only('ServiceMonitor')) assert.equal(spec.endpoints[0].scheme, hasTls ? 'https' : 'http');
for (const { metadata } of only('Ingress'))
  assert.equal(metadata.annotations['nginx.ingress.kubernetes.io/backend-protocol'], hasTls ? 'HTTPS' : undefined);

// Every selector finds the pods, and what names them among gateways is a Service.
const labels = Object.entries(template.metadata.labels);
const finds = (selector) =>
  Object.entries(selector).every(([name, value]) => labels.some(([n, v]) => n === name && v === value));
assert.ok(finds(set.spec.selector.matchLabels));
for (const { spec } of [...only('PodDisruptionBudget'), ...only('NetworkPolicy')])
  assert.ok(finds((spec.selector ?? spec.podSelector).matchLabels));
for (const { spec } of only('Service')) assert.ok(finds(spec.selector));
assert.ok(only('Service').some(({ metadata }) => metadata.name === set.spec.serviceName));
const address = gateway.env.find(({ name }) => name === 'GATEWAY_URL');
assert.equal(address?.value.includes(`.${set.spec.serviceName}.`) ?? false, replicas > 1);
if (address !== undefined) assert.equal(address.value.split(':')[0], hasTls ? 'https' : 'http');

// Secrets are named, never written.
assert.deepEqual(only('Secret'), []);
if (settings.EXECUTION_PROVIDER === 'cuda') assert.equal(gateway.resources.limits['nvidia.com/gpu'], 1);
for (const { spec } of only('PrometheusRule')) assert.ok(spec.groups.length > 1);
for (const { spec } of only('ServiceMonitor'))
  assert.ok(
    only('Service').some(({ metadata }) =>
      Object.entries(spec.selector.matchLabels).every(([n, v]) => metadata.labels[n] === v),
    ),
  );

const ofKubernetes = all.filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com'));
writeFileSync(target, ofKubernetes.map((resource) => JSON.stringify(resource)).join('\n---\n'));
