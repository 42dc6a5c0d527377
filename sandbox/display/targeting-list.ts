import { blemishRecords } from '../calls/perform.ts'
import type { FaultPlan } from '../faults/faults.ts'
import type { World } from '../world.ts'
import { displayRefusal } from './admission.ts'
import { type DisplayBody, openBody } from './request.ts'
import { type AudienceType, attributesByType, audienceTypes } from './targeting-vocabulary.ts'

/** Neither default nor maximum is published; this is the default of the taxonomy listing, and there is no maximum. */
const defaultCount = 100
const tactics = ['CONTEXTUAL', 'BEHAVIORAL'] as const
const everyAttribute: readonly string[] = Object.values(attributesByType).flat()

/**
 * `POST /api/v2/targeting/list` (specification, endpoint 2). Words count in upper and lower case (public facts, section 8.2). What
 * is for audiences only is not looked at for contextual targets. An answer of failure names everything that is wrong.
 */
export const listTargets = (world: World, body: unknown, plan: FaultPlan): unknown => {
  const asked = openBody(world, body)
  const tactic = readWord(asked, 'Filter[tactic]', tactics)
  if (!asked.has('Filter[tactic]')) asked.faults.push('Filter[tactic] is required')
  const ids = asked.wholes('Filter[id]')
  const text = asked.text('searchText')?.toLowerCase() ?? ''
  const startIndex = asked.whole('startIndex', 0, Number.MAX_SAFE_INTEGER) ?? 0
  const count = asked.whole('count', 1, Number.MAX_SAFE_INTEGER) ?? defaultCount
  const audience = tactic === 'BEHAVIORAL' ? readAudience(asked) : { audienceType: null, attribute: null }
  if (asked.faults.length > 0) throw displayRefusal(400, ...asked.faults)
  const wanted = (one: { readonly id: number; readonly name: string }): boolean =>
    (ids?.includes(one.id) ?? true) && one.name.toLowerCase().includes(text)
  const matching =
    tactic === 'CONTEXTUAL'
      ? world.display.contextual().filter(wanted)
      : world.display
          .behavioral()
          .filter(wanted)
          .filter(
            ({ audienceType, attribute }) =>
              (audience.audienceType ?? audienceType) === audienceType && (audience.attribute ?? attribute) === attribute,
          )
  const from = plan.blemishes.has('repeatCursor') ? 0 : startIndex
  const rows = blemishRecords(
    matching.slice(from, from + count).map((one) => ({ ...one })),
    'id',
    plan,
  )
  const totalResults = world.display.settings().totalResultsOfTargets === 'rows' ? rows.length : matching.length
  return { totalResults, [tactic === 'CONTEXTUAL' ? 'contextual' : 'behavioral']: rows }
}

interface AudienceFilter {
  readonly audienceType: AudienceType | null
  readonly attribute: string | null
}

/**
 * Type and attribute may be left out only where ids or a search text say what is wanted; the attribute also where the type is
 * custom (specification, endpoint 2). Given together they must go with each other.
 */
const readAudience = (asked: DisplayBody): AudienceFilter => {
  const audienceType = readWord(asked, 'Filter[audienceType]', audienceTypes)
  const attribute = readWord(asked, 'Filter[attribute]', everyAttribute)
  const named = asked.has('Filter[id]') || asked.has('searchText')
  if (!named && !asked.has('Filter[audienceType]'))
    asked.faults.push('Filter[audienceType] is required unless Filter[id] or searchText is given')
  if (!named && !asked.has('Filter[attribute]') && audienceType !== 'CUSTOM')
    asked.faults.push('Filter[attribute] is required unless Filter[id] or searchText is given or Filter[audienceType] is custom')
  if (audienceType !== null && attribute !== null && !attributesByType[audienceType].includes(attribute))
    asked.faults.push(`Filter[attribute]: ${attribute} does not belong to audience type ${audienceType}`)
  return { audienceType, attribute }
}

/** One of the values, case-insensitive. */
const readWord = <T extends string>(asked: DisplayBody, key: string, words: readonly T[]): T | null => {
  const given = asked.text(key)
  if (given === null || given === '') return null
  const word = words.find((candidate) => candidate === given.toUpperCase())
  if (word === undefined) asked.faults.push(`${key}: must be one of ${words.join(', ')}`)
  return word ?? null
}
