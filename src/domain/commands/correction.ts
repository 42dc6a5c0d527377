import type { PurchaseOrder } from '../orders/order.ts'
import type { StatusWords } from '../values/vocabulary.ts'
import type { CorrectionPayload } from './command.ts'
import { countTracked, normalMark, type OrderBaseline } from './evidence.ts'
import type { Confirmed } from './proof.ts'

/** The tracking numbers that the order shows now for its shipped units, in its spelling, each once. */
export const listTrackingNumbers = (order: Pick<OrderBaseline, 'lines'>, { findState }: StatusWords): string[] => {
  const numbers = new Map<string, string>()
  for (const { status, trackingNumber } of order.lines.flatMap(({ statuses }) => statuses)) {
    if (trackingNumber !== null && findState(status) === 'shipped') numbers.set(normalMark(trackingNumber), trackingNumber)
  }
  return [...numbers.values()]
}

const maxShown = 20

/** Tracking numbers for a sentence, the first ones if there are many. */
export const formatTrackingNumbers = (numbers: readonly string[]): string => {
  if (numbers.length === 0) return 'none'
  const more = numbers.length - maxShown
  return numbers.slice(0, maxShown).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/**
 * The correction as it is sent for this view of the order: with the units that the view shows as shipped under the wrong number now, since some may have
 * been refunded meanwhile, and with its spelling of that number. If it shows none, the correction is as accepted.
 */
export const narrowToView = (words: StatusWords, payload: CorrectionPayload, view: PurchaseOrder): CorrectionPayload => {
  const mark = normalMark(payload.trackingNumber)
  let { trackingNumber } = payload
  const lines = payload.lines.flatMap((accepted) => {
    const line = view.lines.find(({ lineNumber }) => lineNumber === accepted.lineNumber)
    const shown = (line?.statuses ?? []).filter(
      (status) => words.findState(status.status) === 'shipped' && normalMark(status.trackingNumber ?? '') === mark,
    )
    const [first] = shown
    if (line === undefined || first === undefined) return []
    trackingNumber = first.trackingNumber ?? trackingNumber
    return {
      lineNumber: line.lineNumber,
      quantity: shown.reduce((sum, { quantity }) => sum + quantity, 0),
      shippedAt: shown.find(({ shippedAt }) => shippedAt !== null)?.shippedAt?.toISOString() ?? accepted.shippedAt,
      method: shown.find(({ methodCode }) => methodCode !== null)?.methodCode ?? accepted.method,
      ...(line.intentToCancel ? { intentToCancelOverride: true } : {}),
    }
  })
  return lines.length === 0 ? payload : { ...payload, trackingNumber, lines }
}

/**
 * Why a correction is not sent: no unit of its lines is shipped under the wrong number. Confirmed if the order shows the new number there already.
 * Null: it may be sent.
 */
export const checkCorrection = (
  words: StatusWords,
  { trackingNumber, replacement, lines }: CorrectionPayload,
  view: OrderBaseline,
): { readonly state: 'confirmed' | 'rejected'; readonly reason: string } | null => {
  const numbers = new Set(lines.map(({ lineNumber }) => lineNumber))
  const own = view.lines.filter(({ lineNumber }) => numbers.has(lineNumber))
  const isShown = (number: string): boolean => own.some((line) => countTracked(line, words, normalMark(number)) > 0)
  if (isShown(trackingNumber)) return null
  if (isShown(replacement.trackingNumber)) {
    const reason = `the order already shows the tracking number ${replacement.trackingNumber}; nothing was sent`
    return { state: 'confirmed', reason }
  }
  const known = formatTrackingNumbers(listTrackingNumbers(view, words))
  const reason = `the order shows no shipped unit with the tracking number ${trackingNumber}; its tracking numbers are: ${known}`
  return { state: 'rejected', reason }
}

/**
 * Why a view is stale for a correction: it still shows a number that our earlier correction replaced by the one that is wrong now, or the
 * wrong number of an equal correction, and its new number nowhere. Only units grow, so that the counts of a view do not tell. Null: it is
 * not stale.
 */
export const findUncorrected = (
  words: StatusWords,
  payload: CorrectionPayload,
  confirmed: readonly Pick<Confirmed, 'content'>[],
  view: Pick<PurchaseOrder, 'lines'>,
): string | null => {
  const wrong = normalMark(payload.trackingNumber)
  for (const { content } of confirmed) {
    if (content.kind !== 'correct-shipment' || normalMark(content.payload.replacement.trackingNumber) !== wrong) continue
    for (const { lineNumber } of payload.lines) {
      if (!content.payload.lines.some((line) => line.lineNumber === lineNumber)) continue
      const line = view.lines.find((one) => one.lineNumber === lineNumber)
      if (line === undefined || countTracked(line, words, wrong) > 0) continue
      if (countTracked(line, words, normalMark(content.payload.trackingNumber)) === 0) continue
      return `line ${lineNumber} shows tracking number ${content.payload.trackingNumber}, which was corrected to ${payload.trackingNumber}`
    }
  }
  return findUnrepeated(words, payload, confirmed, view)
}

/** An equal correction was confirmed before, and the view lacks it: it would move the same units once more. Refunded units may have lost their number. */
const findUnrepeated = (
  words: StatusWords,
  payload: CorrectionPayload,
  confirmed: readonly Pick<Confirmed, 'content'>[],
  view: Pick<PurchaseOrder, 'lines'>,
): string | null => {
  const [from, to] = [normalMark(payload.trackingNumber), normalMark(payload.replacement.trackingNumber)]
  const moved = new Set<string>()
  for (const { content } of confirmed) {
    if (content.kind !== 'correct-shipment') continue
    const numbers = [normalMark(content.payload.trackingNumber), normalMark(content.payload.replacement.trackingNumber)]
    for (const { lineNumber } of content.payload.lines) {
      if (numbers[0] === from && numbers[1] === to) moved.add(lineNumber)
      // What had the new number has another one since.
      else if (numbers[0] === to) moved.delete(lineNumber)
    }
  }
  const stale = view.lines.find(
    (line) =>
      moved.has(line.lineNumber) &&
      line.units.refunded === 0 &&
      countTracked(line, words, from) > 0 &&
      countTracked(line, words, to) === 0,
  )
  if (stale === undefined) return null
  return `line ${stale.lineNumber} shows tracking number ${payload.trackingNumber}, which was corrected to ${payload.replacement.trackingNumber}`
}
