import { parseBehavioralAudience, parseContextualTarget } from '../../clients/client.ts'
import { type AudienceKind, audienceKinds, type BehavioralAudience, type ContextualTarget } from '../../domain/targeting.ts'
import { behavioralAudienceStore, contextualTargetStore } from '../../store/targets.ts'
import type { SyncDefinition } from './definition.ts'
import { listingStream } from './listings.ts'

const allTargets = listingStream<ContextualTarget>({
  parts: [null],
  list: (display, _part, range, options) => display.targeting.contextual(range, options),
})

/** Contextual targets (specification, section 2). */
export const contextualTargetsSync: SyncDefinition<ContextualTarget> = {
  resource: 'contextual-targets',
  streams: ['all'],
  stream: (name) => (name === 'all' ? allTargets : null),
  backfillParts: [],
  parse: (rawText) => parseContextualTarget(rawText),
  find: contextualTargetStore.findDiffering,
  store: contextualTargetStore.store,
  noteMissing: contextualTargetStore.noteMissing,
  findGone: (sql, sellerId, _part, keys) => contextualTargetStore.findGone(sql, sellerId, keys),
}

const kindsByPart: ReadonlyMap<string | null, AudienceKind> = new Map(
  audienceKinds.map((kind) => [kind.attribute === null ? kind.audienceType : `${kind.audienceType}/${kind.attribute}`, kind]),
)

const kindOf = (part: string | null): AudienceKind => {
  const kind = kindsByPart.get(part)
  if (kind === undefined) throw new Error(`there are no audiences of the kind ${part}`)
  return kind
}

const allAudiences = listingStream<BehavioralAudience>({
  parts: [...kindsByPart.keys()],
  list: (display, part, range, options) => {
    const { audienceType, attribute } = kindOf(part)
    return display.targeting.behavioral({ audienceType, ...(attribute !== null && { attribute }), ...range }, options)
  },
})

/** Behavioral audiences (specification, section 2), kind by kind: none can be listed without naming a type. */
export const behavioralAudiencesSync: SyncDefinition<BehavioralAudience> = {
  resource: 'behavioral-audiences',
  streams: ['all'],
  stream: (name) => (name === 'all' ? allAudiences : null),
  backfillParts: [],
  parse: (rawText) => parseBehavioralAudience(rawText),
  find: behavioralAudienceStore.findDiffering,
  store: behavioralAudienceStore.store,
  noteMissing: behavioralAudienceStore.noteMissing,
  findGone: (sql, sellerId, part, keys) => {
    const { audienceType, attribute } = kindOf(part)
    const condition = 'audience_type = $3 AND ($4::text IS NULL OR attribute = $4)'
    return behavioralAudienceStore.findGone(sql, sellerId, keys, condition, audienceType, attribute)
  },
}
