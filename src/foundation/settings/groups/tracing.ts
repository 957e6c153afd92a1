import { keyPairs } from '../key-pairs.ts';
import { serviceUrl, tracesUrl } from '../setting-forms.ts';
import { choice, type SettingGroup, share, text } from '../setting-kinds.ts';

/**
 * Traces of calls. The names are those of OpenTelemetry
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/,
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 */
export const tracing = {
  title: 'Traces',
  part: 'tracing',
  prefixes: ['OTEL_'],
  everyday: {},
  further: {
    OTEL_EXPORTER_OTLP_ENDPOINT: serviceUrl(
      'OpenTelemetry collector that gets the traces of calls, by OTLP over HTTP (usually port 4318); /v1/traces is ' +
        'added. They have no words, names or phone numbers. Empty = no traces are made.',
    ),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesUrl(
      'The same with its whole path, for traces alone. Empty = OTEL_EXPORTER_OTLP_ENDPOINT.',
    ),
    OTEL_EXPORTER_OTLP_HEADERS: {
      ...keyPairs('Headers that are sent to the collector, such as its key. Empty = none.'),
      secret: true,
    },
    OTEL_SERVICE_NAME: text(
      '',
      'name',
      'Name of this server in traces. Empty = service.name of OTEL_RESOURCE_ATTRIBUTES, or else trunkline.',
    ),
    OTEL_RESOURCE_ATTRIBUTES: keyPairs('What else traces say of this server. Empty = nothing.'),
    OTEL_TRACES_SAMPLER: choice(
      'parentbased_always_on',
      [
        'always_on',
        'always_off',
        'traceidratio',
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
      ],
      'Which calls are traced: all, none, or the share that OTEL_TRACES_SAMPLER_ARG says. A call is always traced ' +
        'whole, and no trace of others is continued, so parentbased_ changes nothing.',
    ),
    OTEL_TRACES_SAMPLER_ARG: share(1, 'Share of the calls that is traced, for the samplers with a ratio.'),
  },
} as const satisfies SettingGroup;
