/** The database that keeps the records: SQLite in a folder of this machine, or a PostgreSQL server. */
export type DatabaseKind = 'sqlite' | 'postgres';
