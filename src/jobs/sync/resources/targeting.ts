import { behavioralAudiencesEndpoint, contextualTargetsEndpoint } from '../../../clients/display/targeting.ts'
import { type AudienceKind, audienceKinds, audiencePart } from '../../../domain/campaigns/targeting.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { behavioralAudienceStore, contextualTargetStore } from '../../../store/campaigns/targets.ts'
import { listing } from '../engine/listings.ts'
import { resource } from '../engine/resource.ts'

const allTargets = listing({
  endpoint: contextualTargetsEndpoint,
  operation: contextualTargetsEndpoint.operations.list,
  parts: [null],
  list: (targets, _part, range, options) => targets.list(range, options),
})

/** Contextual targets (specification, section 2). */
export const contextualTargets = resource({
  name: 'contextual-targets',
  endpoint: contextualTargetsEndpoint,
  poll: pollIntervals.contextualTargets,
  streams: { all: allTargets },
  table: contextualTargetStore,
})

const kindsByPart: ReadonlyMap<string | null, AudienceKind> = new Map(audienceKinds.map((kind) => [audiencePart(kind), kind]))

const findKind = (part: string | null): AudienceKind => {
  const kind = kindsByPart.get(part)
  if (kind === undefined) throw new Error(`there is no kind of audience named ${part}`)
  return kind
}

const allAudiences = listing({
  endpoint: behavioralAudiencesEndpoint,
  operation: behavioralAudiencesEndpoint.operations.list,
  parts: [...kindsByPart.keys()],
  list: (audiences, part, range, options) => {
    const { audienceType, attribute } = findKind(part)
    return audiences.list({ audienceType, ...(attribute !== null && { attribute }), ...range }, options)
  },
})

/** Behavioral audiences (specification, section 2), kind by kind: the operation requires a type. */
export const behavioralAudiences = resource({
  name: 'behavioral-audiences',
  endpoint: behavioralAudiencesEndpoint,
  poll: pollIntervals.behavioralAudiences,
  streams: { all: allAudiences },
  table: behavioralAudienceStore,
})
