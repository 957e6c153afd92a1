import { databaseUrl, recordKey, recordPauseKey, storedEvents, webhookUrl } from '../setting-forms.ts';
import { choice, type SettingGroup, text, whole } from '../setting-kinds.ts';

/** What is kept of calls. */
export const records = {
  title: 'Records',
  part: 'records',
  everyday: {
    DATA_DIR: text(
      '',
      'folder',
      'Folder on this machine that keeps the records of calls across restarts. Only one server may use it. It also ' +
        'has the folders of BATCH_DIR, PROMPT_CACHE_DIR, MODELS_DIR and UPLOAD_DIR where those are empty. none = ' +
        'keep nothing. Empty = trunkline in XDG_STATE_HOME or ~/.local/state.',
    ),
    DATABASE_URL: databaseUrl(
      'PostgreSQL database (13 or later) that keeps the records in place of DATA_DIR. Without CLUSTER_KEY only one ' +
        'server may use it. Empty = SQLite in DATA_DIR.',
    ),
    RECORD: choice(
      'off',
      ['off', 'caller', 'both'],
      'Record the sound of calls: only what the caller says, or also what the caller hears. A call whose parameter ' +
        'record asks for more is recorded so; it cannot ask for less.',
    ),
    RECORD_KEY: recordKey(
      'Key that encrypts recorded sound on disk (AES-256-GCM): 32 bytes as hex or base64, or a passphrase. Sound ' +
        'that was recorded with another key cannot be played. Empty = sound is not encrypted.',
    ),
    RETENTION_DAYS: whole(
      30,
      0,
      36_500,
      'days',
      'The server deletes the records of a call this long after its end. 0 = never.',
    ),
    CALL_WEBHOOK_URL: webhookUrl(
      'Where calls are told to your program: by default each call that has ended, with its transcript. Signed by ' +
        'WEBHOOK_SECRET (Standard Webhooks), and sent again until it is taken, for three days. Empty = nowhere.',
    ),
    REDACT: choice(
      'off',
      ['off', 'store', 'feed'],
      'Mask card, account, phone and social security numbers, IBANs, e-mail addresses, security codes and dates of ' +
        'birth, also those that are said as words or pressed as keys. store = in all that is kept, exported or ' +
        'sent by webhooks; feed = for the readers of live calls, too. Apps and recorded sound are not redacted.',
    ),
  },
  further: {
    RECORD_ANNOUNCEMENT: text(
      '',
      'text',
      'Said at the beginning of each call that is recorded, before the recording begins. Empty = nothing is said.',
    ),
    RECORD_PAUSE_KEY: recordPauseKey(
      'Keys with which a caller pauses the recording of the call and goes on with it, such as *9. Empty = none.',
    ),
    DATA_MAX_BYTES: whole(
      0,
      0,
      Number.MAX_SAFE_INTEGER,
      'bytes',
      'Most bytes of records and sound in DATA_DIR. The server deletes the oldest sound first, then the oldest ' +
        'calls. 0 = no limit.',
    ),
    CALL_WEBHOOK_EVENTS: storedEvents('Events that are sent there.'),
    REDACT_PATTERNS_FILE: text(
      '',
      'path',
      'File with further patterns to mask, a line NAME: REGULAR EXPRESSION for each. Look-around and back-references ' +
        'cannot be used, and case does not matter. Empty = none.',
    ),
    AUDIT_RETENTION_DAYS: whole(
      365,
      0,
      36_500,
      'days',
      'The server deletes lines of the audit log after this time. 0 = never.',
    ),
  },
} as const satisfies SettingGroup;
