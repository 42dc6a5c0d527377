import type { InventoryLogEntry } from './inventory-log.ts'

/**
 * Which column of the report an entry of the inventory log belongs to. Types are `Ship`, `Return`, `Receipt` and `Adjustment`; the reasons
 * of an adjustment are an open set (public facts, section 7.1), so words decide, and what a seller has said about a reason decides first.
 */

/** Kinds of stock movements in the report (specification, "Inventory reconciliation report"). */
export const movementKinds = ['sold', 'returned', 'lost', 'found', 'damaged', 'other'] as const

/** A column of movements of the report. */
export type MovementKind = (typeof movementKinds)[number]

/** What of a log entry says which kind of movement it is, and of how many units; several alike may be added up to one. */
export type LogMovement = Pick<
  InventoryLogEntry,
  'changedUnits' | 'transactionLocation' | 'transactionReasonCode' | 'transactionReasonDescription' | 'transactionType'
>

/** A seller's classification of reasons: kinds by the words of a code or a description, as normalised by {@link normalizeWords}. */
export type ReasonMap = ReadonlyMap<string, MovementKind>

const noReasons: ReasonMap = new Map()

/** Words of a code or a description, in lower case, separated by one space: `LOST_IN_WAREHOUSE` and `LostInWarehouse` have three. */
export const normalizeWords = (text: string | null): string =>
  (text ?? '')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase()
    .trim()

/** Stock that is not sellable, which the report does not count (public facts, section 7.1). */
const unsellableLocation = 'salvage'

const damage =
  'dmg|dmgd|damaged?|damages|damaging|broken?|breakage|defects?|defective|crush(?:ed)?|crack(?:ed)?|torn|ripped|dented|leak(?:ed|ing|age)?|' +
  'spoil(?:ed|age)?|smashed|shattered|scratched|bent|soiled|stained|contaminated|melted|mou?ldy|unsellable|unsaleable'
const loss =
  'los|lost|loss|losses|miss(?:ing)?|misplaced?|mislaid|shrink(?:age)?|stolen|theft|pilferage|pilfered|disappeared|vanished|unlocated|unlocatable|' +
  'unaccounted|unfound|short(?:age)?'
const finding = 'found|fnd|find|located?|recovered|recover|recovery|reappeared|resurfaced'

// `n't` is normalised to `n t`.
const contraction = '(?:is|was|are|were|has|have|had|do|does|did|could|would|should|ca|wo)n ?t'
const negation = `not|never|no|none|nothing|without|${contraction}`
/** Words between a negation and the negated word that do not change the meaning. */
const filler =
  'be|been|being|to|yet|longer|able|ever|still|is|was|were|has|have|had|the|an?|any|of|it|items?|units?|pieces?|products?|stock|inventory|sku|\\p{L}+ly'
/** Words that begin a new clause, to which a preceding negation does not apply. */
const turn = 'later|then|now|but|subsequently|again|and'

const reading = (pattern: string): RegExp => new RegExp(`\\b(?:${pattern})\\b`, 'u')

// The first that fits counts. What was not found is lost and what was found damaged is damaged; what was found again may have been lost or
// missing before, and says so. What is denied in words that are not known here means nothing. The last are words of what the report counts as
// other adjustments: they say that a reason is known.
const patterns: readonly (readonly [MovementKind | null, RegExp])[] = [
  ['lost', reading(`(?:${negation}|nowhere|cannot|unable|failed|failure|un)(?: (?:${filler}))* (?:${finding})`)],
  ['lost', reading(`(?:0|zero)(?: (?:${filler}))* (?:${finding})(?! [1-9])`)],
  ['found', reading(`no longer (?:${loss})`)],
  [null, reading(`(?:${negation})(?: (?:${filler}))* (?:${loss}|${damage})`)],
  ['lost', reading(`(?:${finding}) (?:nothing|none|0|zero|no (?:items?|units?|stock|inventory))`)],
  [null, reading(`(?:${negation}|cannot|unable|failed)(?: (?!(?:${turn})\\b)[\\p{L}\\p{N}]+){1,4} (?:${finding})`)],
  ['lost', new RegExp(`\\bfound(?: to be| as| to have been)? (?:${loss})\\b`)],
  ['damaged', new RegExp(`\\bfound(?: to be| as| to have been)? (?:${damage})\\b`)],
  ['found', new RegExp(`\\b(?:${finding})\\b`)],
  ['damaged', new RegExp(`\\b(?:${damage})\\b`)],
  ['lost', new RegExp(`\\b(?:${loss})\\b`)],
  [
    'other',
    /\b(?:adj|adjust(?:ed|ment|ments)?|correct(?:ed|ion|ions)?|cor|rcv|rec|receipts?|received?|receiving|inbound|outbound|transfer(?:red|s)?|remov(?:al|als|ed)|dispos(?:al|ed)|donat(?:ed|ion)|convert(?:ed)?|conversion|repack(?:ed)?|cycle|re ?count(?:ed)?|count(?:ed)?|reconcil(?:ed|iation)|audit(?:ed)?|invent(?:ory|aire) update)\b/,
  ],
]

/**
 * The kind of a reason: the seller's classification of its code, then of its description, then the meaning of its words. Null if it
 * cannot be classified.
 */
export const kindOfReason = (
  code: string | null,
  description: string | null,
  reasons: ReasonMap = noReasons,
): MovementKind | null => {
  const [codeWords, descriptionWords] = [normalizeWords(code), normalizeWords(description)]
  const said = reasons.get(codeWords) ?? reasons.get(descriptionWords)
  if (said !== undefined) return said
  // No word of the one belongs to a word of the other.
  const all = `${codeWords} / ${descriptionWords}`
  return patterns.find(([, pattern]) => pattern.test(all))?.[0] ?? null
}

/** The kind of an adjustment; null when nothing of its reason is known, or when units are found by words and leave by number. */
const kindOfAdjustment = (
  { changedUnits, transactionReasonCode: code, transactionReasonDescription: description }: LogMovement,
  reasons: ReasonMap,
): MovementKind | null => {
  const kind = kindOfReason(code, description, reasons)
  const isSaid = reasons.has(normalizeWords(code)) || reasons.has(normalizeWords(description))
  return kind === 'found' && changedUnits < 0 && !isSaid ? null : kind
}

const findType = ({ transactionType }: Pick<LogMovement, 'transactionType'>): string =>
  transactionType?.trim().toLowerCase() ?? ''

/**
 * The column of the report in which a movement belongs; null when the report does not count it. Receipts and what is unknown count as
 * other adjustments.
 */
export const findMovementKind = (movement: LogMovement, reasons: ReasonMap = noReasons): MovementKind | null => {
  if (movement.transactionLocation?.trim().toLowerCase() === unsellableLocation) return null
  switch (findType(movement)) {
    case 'ship':
      return 'sold'
    case 'return':
      return 'returned'
    case 'adjustment':
      return kindOfAdjustment(movement, reasons) ?? 'other'
    default:
      return 'other'
  }
}

/** Whether an adjustment counts as `other` only because nothing of its reason is known. One without any reason says nothing. */
export const hasUnknownReason = (movement: LogMovement, reasons: ReasonMap = noReasons): boolean => {
  const { transactionReasonCode: code, transactionReasonDescription: description } = movement
  if (findType(movement) !== 'adjustment' || (normalizeWords(code) === '' && normalizeWords(description) === '')) return false
  return kindOfAdjustment(movement, reasons) === null
}
