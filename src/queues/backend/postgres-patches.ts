import type pg from 'pg'
import { queueNames } from '../jobs.ts'

/** A part of one of BullMQ's functions, and its replacement. */
interface Replacement {
  readonly from: string
  readonly to: string
}

interface FunctionPatch {
  /** With the types of its parameters. */
  readonly name: string
  readonly replacements: readonly Replacement[]
}

// Locked rows are updated by their `ctid`: a join might be planned through all jobs of a queue, for each fetch.
const patches: readonly FunctionPatch[] = [
  // A process that skipped a row while the row became ready would see it neither as waiting nor as delayed, and would sleep.
  {
    name: 'next_delay(text)',
    replacements: [
      {
        from: `
  SELECT MIN(process_at_ms)
    FROM job
   WHERE queue = p_queue AND state = 'delayed';`,
        to: `
  SELECT CASE
    WHEN EXISTS (SELECT FROM job WHERE queue = p_queue AND state = 'waiting')
      AND NOT EXISTS (SELECT FROM meta WHERE queue = p_queue AND field = 'paused' AND value = '1')
    THEN 0
    ELSE (SELECT MIN(process_at_ms) FROM job WHERE queue = p_queue AND state = 'delayed')
  END;`,
      },
    ],
  },
  // A sleeping process wakes up for the first delayed job anyway.
  {
    name: 'move_to_delayed(text,text,text,bigint,bigint,boolean,text,jsonb)',
    replacements: [
      {
        from: `
  PERFORM pg_notify('bullmq_jobs', p_queue);
  RETURN 1;`,
        to: `
  IF NOT EXISTS (
    SELECT FROM job
     WHERE queue = p_queue AND state = 'delayed' AND process_at_ms <= p_process_at AND id <> p_id
  ) THEN
    PERFORM pg_notify('bullmq_jobs', p_queue);
  END IF;
  RETURN 1;`,
      },
    ],
  },
  // BullMQ's events of these queues have no reader.
  {
    name: 'publish_event(text,text,jsonb)',
    replacements: [
      {
        from: `
  IF pg_try_advisory_xact_lock(hashtext('bullmq:evnotify:' || p_queue)) THEN`,
        to: `
  IF p_queue NOT IN (${queueNames.map((name) => `'${name}'`).join(', ')})
    AND pg_try_advisory_xact_lock(hashtext('bullmq:evnotify:' || p_queue)) THEN`,
      },
    ],
  },
  {
    name: 'move_to_active(text,text,bigint,bigint,text,integer,bigint)',
    replacements: [
      {
        from: `
    WITH promoted AS (
      UPDATE job
         SET state = 'waiting', delay_ms = 0
       WHERE queue = p_queue
         AND state = 'delayed'
         AND process_at_ms <= p_now
      RETURNING id
    )`,
        to: `
    WITH promoted AS (
      UPDATE job
         SET state = 'waiting', delay_ms = 0
       WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM job
          WHERE queue = p_queue AND state = 'delayed' AND process_at_ms <= p_now
            FOR UPDATE SKIP LOCKED))
      RETURNING id
    )`,
      },
    ],
  },
  {
    name: 'move_stalled_jobs_to_wait(text,integer,bigint,bigint)',
    replacements: [
      {
        from: `
  UPDATE job SET stalled_marked = false
   WHERE queue = p_queue AND stalled_marked;`,
        to: `
  UPDATE job SET stalled_marked = false
   WHERE ctid = ANY(ARRAY(SELECT ctid FROM job WHERE queue = p_queue AND stalled_marked FOR UPDATE SKIP LOCKED));`,
      },
      {
        from: `
  UPDATE job SET stalled_marked = true
   WHERE queue = p_queue AND state = 'active';`,
        to: `
  UPDATE job SET stalled_marked = true
   WHERE ctid = ANY(ARRAY(SELECT ctid FROM job WHERE queue = p_queue AND state = 'active' FOR UPDATE SKIP LOCKED));`,
      },
    ],
  },
]

const buildReplace = (text: string, { from, to }: Replacement): string => `replace(${text}, $from$${from}$from$, $to$${to}$to$)`
const buildIsFound = (text: string, { from }: Replacement): string => `position($from$${from}$from$ IN ${text}) > 0`

/**
 * Removes waits of processes for each other from BullMQ's functions.
 *
 * - A fetch first makes all due delayed jobs ready and waits for each row that another process has locked, while it holds the locks of the rows before
 *   and of the job that it has just ended. Two processes that lock the same rows in different orders deadlock for a second (Postgres's
 *   `deadlock_timeout`), and all others wait for them. The search for stalled jobs, which marks all active jobs, does the same. Both now skip locked
 *   rows: the process that holds the lock makes the job ready, or is alive.
 * - Transactions that notify commit one after another in the whole server, and each waits for the disk. Only a change that may wake a process notifies.
 *
 * Names, parameters and results stay, so BullMQ's migrations find what they expect; a function that they have changed is left as it is. Only the owner
 * of the functions does this, once.
 */
export const patchFunctions = async (client: pg.ClientBase, schema: string): Promise<void> => {
  for (const { name, replacements } of patches) {
    await client.query(`DO $do$
DECLARE
  found oid := to_regprocedure('${schema}.${name}');
  definition text;
BEGIN
  IF found IS NULL OR NOT (SELECT pg_has_role(proowner, 'USAGE') FROM pg_proc WHERE oid = found) THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('tallyman.queues', 0));
  definition := pg_get_functiondef(found);
  IF ${replacements.map((replacement) => buildIsFound('definition', replacement)).join(' AND ')}
  THEN EXECUTE ${replacements.reduce(buildReplace, 'definition')}; END IF;
END $do$`)
  }
}

/** Lock timeout of the start for the change of the index, in milliseconds. */
const indexLockTimeoutMs = 1_000

/**
 * Reverses the order of BullMQ's index of active jobs. At the end of each job BullMQ uses it to find whether another job is active, in the order in
 * which the locks end; ended jobs stay at its front until vacuum has removed them, and the newest job is most likely active. Name, columns and
 * predicate stay, so BullMQ's migrations find what they expect. Only the owner of the table does this, once; if a long transaction reads the table,
 * the next start does it.
 */
export const reverseActiveIndex = async (client: pg.ClientBase, schema: string): Promise<void> => {
  await client.query(`DO $$
DECLARE
  found oid := to_regclass('${schema}.job_active_idx');
BEGIN
  IF found IS NULL OR pg_get_indexdef(found) NOT LIKE '% (queue, locked_until_ms) WHERE (state = %''active''%'
    OR NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = found) THEN RETURN; END IF;
  PERFORM set_config('lock_timeout', '${indexLockTimeoutMs}', true);
  PERFORM pg_advisory_xact_lock(hashtextextended('tallyman.queues', 0));
  IF to_regclass('${schema}.job_active_idx') IS DISTINCT FROM found THEN RETURN; END IF;
  DROP INDEX ${schema}.job_active_idx;
  CREATE INDEX job_active_idx ON ${schema}.job (queue, locked_until_ms DESC) WHERE state = 'active';
EXCEPTION WHEN lock_not_available THEN
  RETURN;
END $$`)
}
