import type pg from 'pg'
import { queueNames } from './jobs.ts'

/** A passage of one of BullMQ's functions, and what is to stand there instead. */
interface Passage {
  readonly was: string
  readonly is: string
}

interface Mended {
  /** With the types of its parameters. */
  readonly name: string
  readonly passages: readonly Passage[]
}

// Rows are changed where they are locked, by their place in the table: a join could be planned through all jobs of a queue, for each fetch.
const mended: readonly Mended[] = [
  // Who has passed over a row while that became ready, and sees neither that it waits nor that it is delayed, would fall asleep.
  {
    name: 'next_delay(text)',
    passages: [
      {
        was: `
  SELECT MIN(process_at_ms)
    FROM job
   WHERE queue = p_queue AND state = 'delayed';`,
        is: `
  SELECT CASE
    WHEN EXISTS (SELECT FROM job WHERE queue = p_queue AND state = 'waiting')
      AND NOT EXISTS (SELECT FROM meta WHERE queue = p_queue AND field = 'paused' AND value = '1')
    THEN 0
    ELSE (SELECT MIN(process_at_ms) FROM job WHERE queue = p_queue AND state = 'delayed')
  END;`,
      },
    ],
  },
  // Who is asleep wakes up for the first delayed job anyway.
  {
    name: 'move_to_delayed(text,text,text,bigint,bigint,boolean,text,jsonb)',
    passages: [
      {
        was: `
  PERFORM pg_notify('bullmq_jobs', p_queue);
  RETURN 1;`,
        is: `
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
  // Nobody listens to what BullMQ tells of these queues.
  {
    name: 'publish_event(text,text,jsonb)',
    passages: [
      {
        was: `
  IF pg_try_advisory_xact_lock(hashtext('bullmq:evnotify:' || p_queue)) THEN`,
        is: `
  IF p_queue NOT IN (${queueNames.map((name) => `'${name}'`).join(', ')})
    AND pg_try_advisory_xact_lock(hashtext('bullmq:evnotify:' || p_queue)) THEN`,
      },
    ],
  },
  {
    name: 'move_to_active(text,text,bigint,bigint,text,integer,bigint)',
    passages: [
      {
        was: `
    WITH promoted AS (
      UPDATE job
         SET state = 'waiting', delay_ms = 0
       WHERE queue = p_queue
         AND state = 'delayed'
         AND process_at_ms <= p_now
      RETURNING id
    )`,
        is: `
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
    passages: [
      {
        was: `
  UPDATE job SET stalled_marked = false
   WHERE queue = p_queue AND stalled_marked;`,
        is: `
  UPDATE job SET stalled_marked = false
   WHERE ctid = ANY(ARRAY(SELECT ctid FROM job WHERE queue = p_queue AND stalled_marked FOR UPDATE SKIP LOCKED));`,
      },
      {
        was: `
  UPDATE job SET stalled_marked = true
   WHERE queue = p_queue AND state = 'active';`,
        is: `
  UPDATE job SET stalled_marked = true
   WHERE ctid = ANY(ARRAY(SELECT ctid FROM job WHERE queue = p_queue AND state = 'active' FOR UPDATE SKIP LOCKED));`,
      },
    ],
  },
]

const replaced = (text: string, { was, is }: Passage): string => `replace(${text}, $was$${was}$was$, $is$${is}$is$)`
const isIn = (text: string, { was }: Passage): string => `position($was$${was}$was$ IN ${text}) > 0`

/**
 * Takes out of BullMQ's functions what makes processes wait for each other.
 *
 * - Whoever fetches a job first makes all delayed jobs that are due ready, and waits for each row that another one has in hand, with those locked that
 *   it has been through, and the job that it has just ended: two who meet the same rows in another order wait for each other, for the second after
 *   which Postgres looks for that, and all others wait for them. So does the search for stalled jobs, which marks all that run. Both pass over what
 *   somebody else has in hand: that one makes it ready, or it is alive.
 * - Transactions that notify commit one after another, those of the whole server, and each waits for the disk. Only what may wake somebody notifies.
 *
 * Same names, parameters and results, so BullMQ's migrations find what they expect, and a function that they have changed is left as it is. Done by
 * the owner of the functions alone, once.
 */
export const mendFunctions = async (client: pg.ClientBase, schema: string): Promise<void> => {
  for (const { name, passages } of mended) {
    await client.query(`DO $do$
DECLARE
  found oid := to_regprocedure('${schema}.${name}');
  stands text;
BEGIN
  IF found IS NULL OR NOT (SELECT pg_has_role(proowner, 'USAGE') FROM pg_proc WHERE oid = found) THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('tallyman.queues', 0));
  stands := pg_get_functiondef(found);
  IF ${passages.map((passage) => isIn('stands', passage)).join(' AND ')}
  THEN EXECUTE ${passages.reduce(replaced, 'stands')}; END IF;
END $do$`)
  }
}
