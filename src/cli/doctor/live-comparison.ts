import { Failed } from '../../api-client/errors.ts'
import type { CliContext } from '../context.ts'
import { type Cell, type Column, count, pause, print, printJson, printMessage, printTable } from '../output/terminal.ts'
import {
  type CountedLine,
  compareUnits,
  type Explanation,
  explain,
  type LineDifference,
  type OrderCommand,
  orderKey,
  unitFields,
} from './compare-units.ts'
import { connectSandbox, type Sandbox } from './sandbox-effects.ts'
import { readStoredLines, readStoredOrder } from './stored-units.ts'

/** A persistent difference with its explanation; null: there is none. */
export interface StableDifference extends LineDifference {
  readonly explanation: Explanation | null
}

/** Result of the live comparison. */
export interface UnitsReport {
  readonly lines: number
  readonly units: number
  readonly differences: readonly StableDifference[]
}

/** An order on which the sides differed at the last comparison. */
interface Suspect {
  readonly sellerId: string
  readonly purchaseOrderId: string
  /** Ordered units by line number at the marketplace; they never change. */
  readonly ordered: ReadonlyMap<string, number>
  readonly differences: readonly LineDifference[]
  readonly commands: readonly OrderCommand[]
}

/** Up to this number of suspects each is read individually; above it everything is read again. */
const maxSingleReads = 300
const firstPauseMs = 500
const maxPauseMs = 3_000
/** Time before the first progress message, and between two messages, in milliseconds. */
const firstMessageMs = 3_000
const messageEveryMs = 20_000

const collect = async (lines: AsyncIterable<CountedLine>): Promise<CountedLine[]> => {
  const all: CountedLine[] = []
  for await (const line of lines) all.push(line)
  return all
}

/** Reads and compares both sides. The database is read first, because the marketplace already has every effect that the database has stored. */
const compareAll = async (context: CliContext, sandbox: Sandbox) => {
  const database = await collect(readStoredLines(context.daemon))
  const marketplace = await collect(sandbox.lines())
  const comparison = compareUnits(marketplace, database)
  const suspects = new Map<string, Suspect>()
  const differing = Map.groupBy(comparison.differences, orderKey)
  const marketplaceLines = Map.groupBy(
    marketplace.filter((line) => differing.has(orderKey(line))),
    orderKey,
  )
  for (const [key, differences] of differing) {
    const [first] = differences
    if (first === undefined) continue
    const ordered = new Map((marketplaceLines.get(key) ?? []).map((line) => [line.lineNumber, line.units.ordered]))
    const { sellerId, purchaseOrderId } = first
    suspects.set(key, { sellerId, purchaseOrderId, ordered, differences, commands: [] })
  }
  return { comparison, suspects }
}

/** Reads and compares one order again. */
const compareOrder = async (context: CliContext, sandbox: Sandbox, suspect: Suspect): Promise<Suspect> => {
  const effects = await sandbox.readEffects(suspect)
  const { lines, commands } = await readStoredOrder(context.daemon, suspect)
  const none = { acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 }
  const marketplace = [...suspect.ordered].map(
    ([lineNumber, ordered]): CountedLine => ({
      sellerId: suspect.sellerId,
      purchaseOrderId: suspect.purchaseOrderId,
      lineNumber,
      units: { ordered, ...(effects.get(lineNumber) ?? none) },
    }),
  )
  return { ...suspect, differences: compareUnits(marketplace, lines).differences, commands }
}

const isHeld = (suspect: Suspect): boolean => explain(suspect.commands)?.verdict === 'held'

/**
 * Compares the sandbox's effects with the database while both change: differences are read again until they agree, a held
 * command explains it, or `waitMs` are over (the marketplace's own changes arrive with the next sync).
 */
export const compareLive = async (context: CliContext, sandbox: Sandbox, waitMs: number): Promise<UnitsReport> => {
  const deadline = Date.now() + waitMs
  const { comparison, suspects } = await compareAll(context, sandbox)
  let pauseMs = firstPauseMs
  let messageAtMs = Date.now() + firstMessageMs
  for (let last = false; !last && [...suspects.values()].some((suspect) => !isHeld(suspect)); ) {
    if (Date.now() >= messageAtMs) {
      const differ = `${count(suspects.size, 'order')} still ${suspects.size === 1 ? 'differs' : 'differ'}`
      const left = Math.ceil((deadline - Date.now()) / 1_000)
      printMessage(
        context.terminal,
        `${differ}; the marketplace's own changes arrive with the next sync; comparing for ${left} s more`,
      )
      messageAtMs = Date.now() + messageEveryMs
    }
    await pause(Math.max(0, Math.min(pauseMs, deadline - Date.now())), context.signal)
    last = Date.now() >= deadline
    pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)
    if (suspects.size > maxSingleReads) {
      const again = await compareAll(context, sandbox)
      for (const key of suspects.keys()) if (!again.suspects.has(key)) suspects.delete(key)
      continue
    }
    for (const [key, suspect] of suspects) {
      if (isHeld(suspect)) continue
      const current = await compareOrder(context, sandbox, suspect)
      if (current.differences.length === 0) suspects.delete(key)
      else suspects.set(key, current)
    }
  }
  const differences = [...suspects.values()].flatMap((suspect) => {
    const explanation = explain(suspect.commands)
    return suspect.differences.map((difference) => ({ ...difference, explanation }))
  })
  return { lines: comparison.lines, units: comparison.units, differences }
}

const columns: readonly Column[] = [
  { heading: 'order' },
  { heading: 'line', align: 'right' },
  ...unitFields.map((heading) => ({ heading, align: 'right' as const })),
  { heading: 'explanation' },
  { heading: 'seller' },
]

const buildRow = (difference: StableDifference): (Cell | string)[] => {
  const { marketplace, database, explanation } = difference
  const counts = unitFields.map((field): Cell | string => {
    const [real, stored] = [marketplace?.[field], database?.[field]]
    return real === stored ? String(real ?? '') : { text: `${real ?? '-'} ≠ ${stored ?? '-'}`, tone: 'bad' }
  })
  const missing = database === null ? 'not in the database; ' : marketplace === null ? 'not at the marketplace; ' : ''
  const reason: Cell =
    explanation === null
      ? { text: `${missing}not explained`, tone: 'bad' }
      : { text: `${missing}${explanation.verdict}: ${explanation.command.kind} ${explanation.command.id}`, tone: 'warning' }
  return [difference.purchaseOrderId, difference.lineNumber, ...counts, reason, difference.sellerId]
}

/** One line: number of lines, of differences, and their explanations. */
export const formatSummary = ({ lines, differences }: UnitsReport): string => {
  const counted = `${lines} line${lines === 1 ? '' : 's'}, ${differences.length} difference${differences.length === 1 ? '' : 's'}`
  if (differences.length === 0) return counted
  const countVerdict = (verdict: Explanation['verdict'] | null) =>
    differences.filter(({ explanation }) => (explanation?.verdict ?? null) === verdict).length
  return `${counted} (${countVerdict('held')} held, ${countVerdict('in progress')} in progress, ${countVerdict(null)} not explained)`
}

/** `tallyman doctor --units`. @throws Failed when a difference has no explanation */
export const doctorUnits = async (context: CliContext, sandboxUrl: string, waitMs: number): Promise<void> => {
  const { terminal } = context
  const sandbox = connectSandbox(sandboxUrl, context.signal)
  const report = await compareLive(context, sandbox, waitMs).finally(() => sandbox.close())
  if (terminal.json) printJson(terminal, report)
  else {
    if (report.differences.length > 0) {
      printTable(terminal, columns, report.differences.map(buildRow))
      printMessage(terminal, 'left of ≠: units at the sandbox; right of it: units in the database')
    }
    print(terminal, formatSummary(report))
  }
  const unexplained = report.differences.filter(({ explanation }) => explanation === null).length
  if (unexplained > 0) {
    throw new Failed(`${count(unexplained, 'difference')} without an explanation`, [
      'compare the history of such an order (GET /v1/orders/{purchaseOrderId}) with GET /_sandbox/effects?purchaseOrderId=…',
    ])
  }
}
