import { type CorrectionPayload, correctionPayloadSchema } from '../../src/domain/commands/command.ts'
import type { History } from './history.ts'
import { lookedAtMs, maxLagMs } from './known.ts'
import type { TrueEffect, World } from './marketplace.ts'
import { type EndedCommand, ours, type Record } from './record.ts'
import { countTracked } from './truth.ts'

const parse = (command: EndedCommand): CorrectionPayload => correctionPayloadSchema.parse(command.payload)

const countIn = (world: World, purchaseOrderId: string, atMs: number, lineNumber: string, trackingNumber: string): number => {
  const line = world.orderAsOf(purchaseOrderId, atMs)?.lines.find((one) => one.lineNumber === lineNumber)
  return line === undefined ? 0 : countTracked(line, trackingNumber)
}

/**
 * How much of a correction has truly happened: whole if no unit of its lines had the wrong number after its last effect, or has it now. Units
 * that it left behind may have been refunded since.
 */
export const buildCorrectionTruth = (world: World, command: EndedCommand): 'whole' | 'none' | 'part' => {
  const last = ours(world, command).at(-1)
  if (last === undefined) return 'none'
  const { trackingNumber, lines } = parse(command)
  const isGone = (atMs: number): boolean =>
    lines.every(({ lineNumber }) => countIn(world, command.purchaseOrderId, atMs, lineNumber, trackingNumber) === 0)
  return isGone(last.atMs) || isGone(Number.POSITIVE_INFINITY) ? 'whole' : 'part'
}

/**
 * Confirmed corrections whose lines do not show their number in the end, where nothing of what happened afterwards explains it; and
 * corrections that shipped units, although nobody else had touched the order since the read before.
 */
export const listWrongTracking = (history: History, world: World, record: Record): readonly string[] => {
  const shipped = world.effects.flatMap((effect) => {
    if (effect.kind !== 'correct' || effect.appeared === 0) return []
    const readMs = lookedAtMs(world, effect) - maxLagMs(history)
    const isTouched = world.effects.some(
      ({ by, purchaseOrderId, atMs }) =>
        by === 'others' && purchaseOrderId === effect.purchaseOrderId && atMs >= readMs && atMs <= effect.atMs,
    )
    return isTouched ? [] : [`line ${effect.lineNumber}: a correction shipped ${effect.appeared} units under ${effect.mark}`]
  })
  const wrong = record.commands
    .filter(({ kind, state, decided }) => kind === 'correct-shipment' && state === 'confirmed' && !decided)
    .flatMap((command) => parse(command).lines.flatMap(({ lineNumber }) => listFaults(world, command, lineNumber)))
  return [...shipped, ...wrong]
}

const listFaults = (world: World, command: EndedCommand, lineNumber: string): readonly string[] => {
  const { trackingNumber, replacement } = parse(command)
  const isOfLine = (effect: TrueEffect): boolean =>
    effect.purchaseOrderId === command.purchaseOrderId && effect.lineNumber === lineNumber
  const own = ours(world, command).filter(isOfLine).at(-1)
  const after = world.effects.filter((effect) => isOfLine(effect) && effect.atMs > (own?.atMs ?? command.createdAtMs))
  const count = (number: string): number => countIn(world, command.purchaseOrderId, Number.POSITIVE_INFINITY, lineNumber, number)
  const isShippedAgain = after.some(({ kind, mark }) => (kind === 'ship' || kind === 'correct') && mark === trackingNumber)
  const faults: string[] = []
  const left = count(trackingNumber)
  if (left > 0 && !isShippedAgain) faults.push(`line ${lineNumber} shows ${left} units under ${trackingNumber}, corrected`)
  const isMoved = after.some(({ kind, from }) => kind === 'refund' || (kind === 'correct' && from === replacement.trackingNumber))
  if (own !== undefined && !isMoved && count(replacement.trackingNumber) === 0)
    faults.push(`line ${lineNumber} shows no unit under ${replacement.trackingNumber}`)
  return faults
}

/** The numbers of a correction. */
export interface Correction {
  readonly wrong: string
  readonly right: string
}

/** Whether the correction of an event was made by another event, or its number is there anyway. */
export const wasCorrectedBefore = (
  world: World,
  record: Record,
  purchaseOrderId: string,
  { wrong, right }: Correction,
): boolean =>
  record.commands.some((command) => {
    if (command.kind !== 'correct-shipment' || command.purchaseOrderId !== purchaseOrderId) return false
    const { trackingNumber, replacement } = parse(command)
    return trackingNumber === wrong && replacement.trackingNumber === right
  }) || world.effects.some(({ kind, purchaseOrderId: of, mark }) => kind === 'ship' && of === purchaseOrderId && mark === right)
