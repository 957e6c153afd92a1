/** The metrics of the records of calls. */
import { type MetricMaker, SHORT_SECONDS } from './metric-maker.ts';
import { SoundMetrics } from './sound-metrics.ts';
import { WebhookMetrics } from './webhook-metrics.ts';

/** Whether what is past its time is deleted, and by whose clock. */
export class RetentionMetrics {
  readonly held;
  readonly clockOffSeconds;

  constructor(make: MetricMaker) {
    this.held = make.gauge('trunkline_records_retention_held', '1 = nothing that is past its time is deleted, by why', [
      'reason',
    ]);
    this.clockOffSeconds = make.gauge(
      'trunkline_records_clock_off_seconds',
      "How far this machine's clock is ahead of the database's",
      [],
    );
  }
}

/** How full the disk of DATA_DIR is, and what the records take of it. */
export class DataDiskMetrics {
  readonly freeBytes;
  readonly totalBytes;
  readonly dailyBytes;
  readonly dataBytes;
  readonly refusedBytes;

  constructor(make: MetricMaker) {
    this.freeBytes = make.gauge('trunkline_data_disk_free_bytes', 'Room on the disk of DATA_DIR', []);
    this.totalBytes = make.gauge('trunkline_data_disk_bytes', 'Size of the disk of DATA_DIR', []);
    this.dailyBytes = make.gauge(
      'trunkline_records_disk_daily_bytes',
      'Bytes that the calls of one day take on the disk of DATA_DIR',
      [],
    );
    this.dataBytes = make.gauge('trunkline_records_data_bytes', 'Bytes of records and sound in DATA_DIR', []);
    this.refusedBytes = make.gauge(
      'trunkline_records_refused_bytes',
      'What DATA_DIR/refused keeps of events that the database refused',
      [],
    );
  }
}

/** `metrics.records` */
export class RecordMetrics {
  readonly backlog;
  readonly backlogAge;
  readonly backupSeconds;
  readonly written;
  readonly lost;
  readonly refused;
  readonly failures;
  readonly openFailures;
  readonly logsLost;
  readonly writeSeconds;
  readonly expired;
  readonly retention: RetentionMetrics;
  readonly disk: DataDiskMetrics;
  readonly auditLost;
  readonly searchSeconds;
  readonly sound: SoundMetrics;
  readonly webhooks: WebhookMetrics;

  constructor(make: MetricMaker) {
    this.backlog = make.gauge('trunkline_records_backlog', 'Events that wait to be stored', []);
    this.backlogAge = make.measured(
      'trunkline_records_backlog_age_seconds',
      'How long the oldest event has waited to be stored',
    );
    this.backupSeconds = make.gauge(
      'trunkline_records_backup_timestamp_seconds',
      'When the last copy of the records was made',
      [],
    );
    this.disk = new DataDiskMetrics(make);
    this.written = make.counter('trunkline_records_written_total', 'Events that were stored', []);
    this.lost = make.counter('trunkline_records_lost_total', 'Events that were not stored, by why', ['reason']);
    this.refused = make.counter(
      'trunkline_records_refused_total',
      'Events that the database refused, and that DATA_DIR/refused keeps',
      [],
    );
    this.failures = make.counter(
      'trunkline_records_write_failures_total',
      'Times that the records could not be written; what was to be written is kept and tried again',
      [],
    );
    this.openFailures = make.counter(
      'trunkline_records_open_failures_total',
      'Times that the records could not be opened; it is tried again',
      [],
    );
    this.logsLost = make.counter(
      'trunkline_records_logs_lost_total',
      "Times that another program deleted the live database's log",
      [],
    );
    this.writeSeconds = make.histogram(
      'trunkline_records_write_seconds',
      'Time that one transaction of the records took',
      [],
      SHORT_SECONDS,
    );
    this.expired = make.counter('trunkline_records_expired_total', 'Calls and sounds that were deleted, by why', [
      'what',
      'reason',
    ]);
    this.retention = new RetentionMetrics(make);
    this.auditLost = make.counter(
      'trunkline_records_audit_lost_total',
      'Lines of the audit log that could not be stored',
      [],
    );
    this.searchSeconds = make.histogram(
      'trunkline_records_search_seconds',
      'Time that one page of a search took',
      [],
      SHORT_SECONDS,
    );
    this.sound = new SoundMetrics(make);
    this.webhooks = new WebhookMetrics(make);
  }
}
