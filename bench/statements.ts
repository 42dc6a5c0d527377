import pg from 'pg'

/** What one kind of statement cost. */
export interface StatementCost {
  readonly statement: string
  readonly count: number
  /** From sending to the answer, all of them together. */
  readonly totalMs: number
}

const names: readonly (readonly [RegExp, string])[] = [
  [/^BEGIN/, 'BEGIN'],
  [/^COMMIT/, 'COMMIT'],
  [/^SELECT c\.id, .* AS decisions/, 'read the command'],
  [/^SELECT c\.id FROM unnest/, 'lock orders and commands'],
  [/^SELECT k\.place::int AS place, c\.id, c\.kind/, 'read the ledgers'],
  [/^SELECT o\.purchase_order_id::text AS key, encode/, 'read hashes under the lock'],
  [/^SELECT purchase_order_id FROM warehouse\.orders .* FOR UPDATE/, 'lock the order'],
  [/^SELECT (k\.place::int AS place, o\.\*|o\.purchase_order_id, o\.customer_order_id)/, 'read the order'],
  [/^SELECT c\.id FROM tallyman\.commands c JOIN/, 'compare the command'],
  [/^WITH given .* claimed AS/, 'store the intent'],
  [/^SELECT array_agg\(o\.purchase_order_id::text\) AS keys/, 'compare the hash'],
  [/^WITH reported AS/, 'store the answered order'],
  [/^SELECT e\.kind \|\| ' ' \|\| e\.record_id/, 'was its buyer erased?'],
  [/^SELECT attempt, correlation_id/, 'read the attempts'],
  [/^UPDATE tallyman\.command_attempts/, 'store the outcome'],
  [/^WITH given .* moved AS/, 'settle the command'],
  [/^-- Finish an active job/, 'BullMQ: end the job, take the next'],
  [/^WITH told AS/, 'append the changes, COMMIT'],
  [/^SELECT k\.place::int AS place, \(SELECT c\.id/, 'is there one after it?'],
]

const nameOf = (text: string): string => {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  return names.find(([pattern]) => pattern.test(flat))?.[1] ?? flat.slice(0, 60)
}

const textOf = (query: unknown): string => {
  if (typeof query === 'string') return query
  if (typeof query === 'object' && query !== null && 'text' in query && typeof query.text === 'string') return query.text
  return '(other)'
}

/** Times every statement that this process sends through `pg`, until `end` is called. */
export const watchStatements = (): { end(): readonly StatementCost[] } => {
  const costs = new Map<string, { count: number; totalMs: number }>()
  const original: unknown = Reflect.get(pg.Client.prototype, 'query')
  if (typeof original !== 'function') throw new TypeError('pg has no query')
  const note = (text: string, startedMs: number): void => {
    const name = nameOf(text)
    const { count, totalMs } = costs.get(name) ?? { count: 0, totalMs: 0 }
    costs.set(name, { count: count + 1, totalMs: totalMs + performance.now() - startedMs })
  }
  Reflect.set(pg.Client.prototype, 'query', function (this: pg.Client, ...given: unknown[]): unknown {
    const text = textOf(given[0])
    const startedMs = performance.now()
    const told: unknown = given.at(-1)
    const hears = (...results: unknown[]): unknown => {
      note(text, startedMs)
      return typeof told === 'function' ? Reflect.apply(told, undefined, results) : undefined
    }
    const answer: unknown = Reflect.apply(original, this, typeof told === 'function' ? [...given.slice(0, -1), hears] : given)
    if (!(answer instanceof Promise)) return answer
    return answer.finally(() => note(text, startedMs))
  })
  return {
    end: () => {
      Reflect.set(pg.Client.prototype, 'query', original)
      return [...costs].map(([statement, cost]) => ({ statement, ...cost })).sort((a, b) => b.totalMs - a.totalMs)
    },
  }
}
