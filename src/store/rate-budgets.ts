import type { BudgetMember, BudgetStore } from '../budget-store.ts'
import type { Database } from './database.ts'

/** Serialises announcements; any number that nothing else locks by. */
const announcementLock = 7_220_115
/** What no process has used for so long is forgotten. */
const keptDays = 40

/** Rate budgets shared through Postgres. Works behind a pooler in transaction mode: nothing is kept in a session. */
export const createPostgresBudgetStore = (database: Database): BudgetStore => ({
  read: async (name) => {
    const [row] = await database.query<{ version: bigint; text: string | null; storeMs: number }>(
      `SELECT coalesce(b.version, 0) AS version, b.memory AS text, extract(epoch FROM clock_timestamp())::float8 * 1000 AS "storeMs"
       FROM (SELECT $1::text AS name) asked LEFT JOIN tallyman.rate_buckets b USING (name)`,
      name,
    )
    if (row === undefined) throw new Error('Postgres answered a question for one row with none')
    return { value: { version: Number(row.version), text: row.text }, storeMs: row.storeMs }
  },
  swap: async (name, version, text) => {
    const written =
      version === 0
        ? await database.execute(
            `INSERT INTO tallyman.rate_buckets (name, version, memory, changed_at) VALUES ($1, 1, $2, now()) ON CONFLICT DO NOTHING`,
            name,
            text,
          )
        : await database.execute(
            `UPDATE tallyman.rate_buckets SET version = version + 1, memory = $3, changed_at = now() WHERE name = $1 AND version = $2::bigint`,
            name,
            version,
            text,
          )
    return written > 0
  },
  put: async (id, texts) => {
    // Rows in the order of their names: two processes that think that they are alone must not wait for each other.
    const rows = [...texts].map(([name, memory]) => ({ name, memory })).sort((one, other) => (one.name < other.name ? -1 : 1))
    const written = await database.execute(
      `INSERT INTO tallyman.rate_buckets AS b (name, version, memory, changed_at)
       SELECT t.name, 1, t.memory, now() FROM jsonb_to_recordset($2::jsonb) AS t(name text, memory text)
       WHERE EXISTS (SELECT FROM tallyman.rate_members m WHERE m.id = $1 AND m.is_sole AND m.drawn_until > clock_timestamp())
       ON CONFLICT (name) DO UPDATE SET version = b.version + 1, memory = excluded.memory, changed_at = now()`,
      id,
      JSON.stringify(rows),
    )
    return written === rows.length
  },
  announce: async (id, { sole, forMs }) =>
    await database.transaction(async (sql) => {
      await sql.execute(`SELECT pg_advisory_xact_lock($1::bigint)`, announcementLock)
      const members = await sql.query<BudgetMember & { readonly isHere: boolean; readonly isAhead: boolean }>(
        `SELECT id, is_sole AS "isSole", drawn_until > clock_timestamp() AS "isHere",
           drawn_until > clock_timestamp() + make_interval(secs => $1::float8 / 1000) AS "isAhead" FROM tallyman.rate_members`,
        forMs,
      )
      // The clock was set back since then: who lives says so again in time, who does not must not stand for as long as that.
      if (members.some(({ isAhead }) => isAhead)) {
        await sql.execute(
          `UPDATE tallyman.rate_members SET drawn_until = least(drawn_until, clock_timestamp() + make_interval(secs => $1::float8 / 1000))`,
          forMs,
        )
      }
      const others = members.filter((member) => member.id !== id && member.isHere).map(({ id, isSole }) => ({ id, isSole }))
      const own = members.find((member) => member.id === id)
      const stays = sole === 'keep' && own?.isHere === true && own.isSole
      const isSole = stays || (sole !== 'yield' && others.length === 0)
      const [now] = await sql.query<{ storeMs: number }>(
        `INSERT INTO tallyman.rate_members AS m (id, is_sole, drawn_until)
         VALUES ($1, $2::boolean, clock_timestamp() + make_interval(secs => $3::float8 / 1000))
         ON CONFLICT (id) DO UPDATE SET is_sole = excluded.is_sole, drawn_until = excluded.drawn_until
         RETURNING extract(epoch FROM clock_timestamp())::float8 * 1000 AS "storeMs"`,
        id,
        isSole,
        forMs,
      )
      if (now === undefined) throw new Error('Postgres answered a statement for one row with none')
      if (own === undefined) {
        await sql.execute(`DELETE FROM tallyman.rate_members WHERE drawn_until < clock_timestamp() - interval '1 hour'`)
        await sql.execute(`DELETE FROM tallyman.rate_buckets WHERE changed_at < now() - make_interval(days => $1::int)`, keptDays)
      }
      return { value: { isSole, others }, storeMs: now.storeMs }
    }),
  leave: async (id) => {
    await database.prisma.rateMember.deleteMany({ where: { id } })
  },
})
