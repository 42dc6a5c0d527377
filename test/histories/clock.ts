import pg from 'pg'

/**
 * Virtual time in Postgres. Each connection of a play finds a function `now()` of ours before Postgres' own (by its search path), and every
 * column that defaults to `now()` is made to default to it. Like Postgres' own it stands still within a transaction. A connection that
 * names no clock gets the true time.
 */
const install = `
  CREATE SCHEMA histories;
  CREATE UNLOGGED TABLE histories.clocks (clock int, true_from timestamptz, at timestamptz NOT NULL, PRIMARY KEY (clock, true_from));
  CREATE FUNCTION histories.now() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
  BEGIN
    RETURN COALESCE((SELECT c.at FROM histories.clocks c
      WHERE c.clock = NULLIF(current_setting('histories.clock', true), '')::int AND c.true_from <= pg_catalog.transaction_timestamp()
      ORDER BY c.true_from DESC LIMIT 1), pg_catalog.now());
  END $$;
  CREATE FUNCTION histories.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    RETURN COALESCE((SELECT c.at FROM histories.clocks c WHERE c.clock = NULLIF(current_setting('histories.clock', true), '')::int
      ORDER BY c.true_from DESC LIMIT 1), pg_catalog.clock_timestamp());
  END $$;
  DO $$
  DECLARE c record;
  BEGIN
    FOR c IN SELECT table_schema, table_name, column_name FROM information_schema.columns
      WHERE column_default = 'now()' AND table_schema IN ('warehouse', 'tallyman')
    LOOP
      EXECUTE format('ALTER TABLE %I.%I ALTER COLUMN %I SET DEFAULT histories.now()', c.table_schema, c.table_name, c.column_name);
    END LOOP;
  END $$;`

/** Gives a database virtual time. */
export const installClocks = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(install)
  } finally {
    await client.end()
  }
}

/** Address of the same database whose connections go by a clock. */
export const clockedUrl = (url: string, clock: number): string => {
  const clocked = new URL(url)
  clocked.searchParams.set('options', `-c search_path=histories,pg_catalog,public -c histories.clock=${clock}`)
  return clocked.toString()
}

/** Sets a clock; `first`: forgets how it stood before. */
export const setClock = async (client: pg.ClientBase, clock: number, atMs: number, first: boolean): Promise<void> => {
  if (first) await client.query('DELETE FROM histories.clocks WHERE clock = $1', [clock])
  await client.query({
    name: 'set-clock',
    text: `INSERT INTO histories.clocks (clock, true_from, at) VALUES ($1, clock_timestamp(), to_timestamp($2::float8 / 1000))
      ON CONFLICT (clock, true_from) DO UPDATE SET at = excluded.at`,
    values: [clock, atMs],
  })
}
