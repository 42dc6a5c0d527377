import { refundReturnPayloadSchema } from '../../src/domain/commands/command.ts'
import type { History } from './history.ts'
import { knownBefore, lookedAtMs, maxLagMs } from './known.ts'
import type { TrueEffect, World } from './marketplace.ts'
import type { EndedCommand, Record } from './record.ts'
import type { TrueReturn } from './returns.ts'

const isOfLine = (
  { returned }: TrueEffect,
  { returnOrderId, returnLineNumber }: { readonly returnOrderId: string; readonly returnLineNumber: number },
): boolean => returned?.returnOrderId === returnOrderId && returned.returnLineNumber === returnLineNumber

const sumUnits = (effects: readonly TrueEffect[]): number => effects.reduce((sum, { units }) => sum + units, 0)

/**
 * Refunds of ours through a return of units that were refunded before: through the return, by us or so long before by somebody else that the
 * read before ours must have shown it; or by us through the order, by an event that was accepted since the return exists.
 */
export const listDoubleReturns = (history: History, world: World, record: Record): readonly string[] => {
  const createdAtMs = new Map(record.commands.map((command) => [command.id, command.createdAtMs]))
  return world.effects.flatMap((effect): readonly string[] => {
    const { returned, lineNumber } = effect
    if (effect.by !== 'us' || returned === null) return []
    const before = [...knownBefore(history, world, effect), effect]
    const lines = listLines(world, effect)
    const line = lines.find((one) => isOfLine(effect, one))
    if (line === undefined)
      return [`units of line ${returned.returnLineNumber} of return ${returned.returnOrderId}, which has none`]
    const through = sumUnits(before.filter((each) => isOfLine(each, line)))
    const name = `line ${line.returnLineNumber} of return ${line.returnOrderId}`
    if (through > line.units) return [`${name}: ${through} units refunded through it, of ${line.units}`]
    const sinceMs = Math.max(...lines.map(({ arrivedAtMs }) => arrivedAtMs))
    const credits = before.filter(
      ({ by, kind, returned: way, inflated, commandId }) =>
        by === 'us' && kind === 'refund' && way === null && !inflated && (createdAtMs.get(commandId ?? '') ?? 0) > sinceMs,
    )
    // The marketplace may show credits as units of the return, so that those cannot be told from refunds of its own: the larger counts.
    const ours = before.filter(({ by, returned: way }) => by === 'us' && way !== null)
    const theirs = before.filter(({ by, returned: way }) => by === 'others' && way !== null)
    const all = sumUnits(ours) + Math.max(sumUnits(theirs), sumUnits(credits))
    const units = lines.reduce((sum, one) => sum + one.units, 0)
    return all > units ? [`line ${lineNumber}: ${all} units refunded through the order and its returns, ${units} returned`] : []
  })
}

interface ReturnedLine {
  readonly returnOrderId: string
  readonly returnLineNumber: number
  readonly units: number
  readonly arrivedAtMs: number
}

/** The lines of returns of the line of an order that an effect is about, as they were then. */
const listLines = (world: World, { purchaseOrderId, lineNumber, askedAtMs }: TrueEffect): readonly ReturnedLine[] =>
  world
    .returns()
    .filter((returned: TrueReturn) => returned.purchaseOrderId === purchaseOrderId && returned.arrivedAtMs <= askedAtMs)
    .flatMap(({ returnOrderId, arrivedAtMs, lines }) =>
      lines.filter((line) => line.lineNumber === lineNumber).map((line) => ({ ...line, returnOrderId, arrivedAtMs })),
    )

/**
 * Whether the units of a command were refunded through their return, whoever did it: since the read before its first request, as late as that
 * may have shown the return.
 */
export const isReturnGoalReached = (history: History, world: World, command: EndedCommand): boolean => {
  const { returnOrderId, lines } = refundReturnPayloadSchema.parse(command.payload)
  const first = world.requests.find(({ commandId, operation }) => commandId === command.id && operation === 'refund-return')
  const read = { commandId: command.id, purchaseOrderId: command.purchaseOrderId, askedAtMs: first?.atMs ?? 0 }
  // An intent counts like a request, although no request may have followed it.
  const sinceMs = (first === undefined ? command.createdAtMs : lookedAtMs(world, read)) - maxLagMs(history)
  const asked = Map.groupBy(lines, ({ returnLineNumber }) => returnLineNumber)
  return [...asked].every(([returnLineNumber, entries]) => {
    const line = { returnOrderId, returnLineNumber }
    const since = world.effects.filter((effect) => effect.atMs >= sinceMs && isOfLine(effect, line))
    const others = history.nature.countsCredits ? creditsSince(world, command, entries, sinceMs) : 0
    return sumUnits(since) + others >= entries.reduce((sum, { quantity }) => sum + quantity, 0)
  })
}

/** Units of these lines that were refunded through the order, where they count as those of the return. */
const creditsSince = (
  world: World,
  command: EndedCommand,
  entries: readonly { readonly lineNumber: string }[],
  sinceMs: number,
): number =>
  sumUnits(
    world.effects.filter(
      ({ kind, returned, purchaseOrderId, lineNumber, atMs }) =>
        kind === 'refund' &&
        returned === null &&
        atMs >= sinceMs &&
        purchaseOrderId === command.purchaseOrderId &&
        entries.some((entry) => entry.lineNumber === lineNumber),
    ),
  )
