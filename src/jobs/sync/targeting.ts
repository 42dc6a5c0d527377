import { behavioralAudiencesEndpoint, contextualTargetsEndpoint } from '../../clients/display/targeting.ts'
import { type AudienceKind, audienceKinds, audiencePart } from '../../domain/targeting.ts'
import { behavioralAudienceStore, contextualTargetStore } from '../../store/targets.ts'
import { listing } from './listings.ts'
import { resource } from './resource.ts'
import { dayMs } from './settings.ts'

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
  poll: { variable: 'POLL_CONTEXTUAL_TARGETS', ordinaryMs: dayMs, demonstrationMs: 300_000 },
  streams: { all: allTargets },
  table: contextualTargetStore,
})

const kindsByPart: ReadonlyMap<string | null, AudienceKind> = new Map(audienceKinds.map((kind) => [audiencePart(kind), kind]))

const kindOf = (part: string | null): AudienceKind => {
  const kind = kindsByPart.get(part)
  if (kind === undefined) throw new Error(`there are no audiences of the kind ${part}`)
  return kind
}

const allAudiences = listing({
  endpoint: behavioralAudiencesEndpoint,
  operation: behavioralAudiencesEndpoint.operations.list,
  parts: [...kindsByPart.keys()],
  list: (audiences, part, range, options) => {
    const { audienceType, attribute } = kindOf(part)
    return audiences.list({ audienceType, ...(attribute !== null && { attribute }), ...range }, options)
  },
})

/** Behavioral audiences (specification, section 2), kind by kind: none can be listed without naming a type. */
export const behavioralAudiences = resource({
  name: 'behavioral-audiences',
  endpoint: behavioralAudiencesEndpoint,
  poll: { variable: 'POLL_BEHAVIORAL_AUDIENCES', ordinaryMs: dayMs, demonstrationMs: 300_000 },
  streams: { all: allAudiences },
  table: behavioralAudienceStore,
})
