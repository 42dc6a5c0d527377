import { z } from 'zod'
import { audienceAttributes } from '../../domain/campaigns/targeting.ts'
import { lenient, numberLike, text } from './lenient.ts'
import { describePublished } from './published.ts'

const trueOrFalse = z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })])

const wireTarget = z.looseObject({
  id: numberLike,
  name: lenient(text),
  taxonPath: lenient(text),
  isDisabled: trueOrFalse.nullish(),
})

/** The common fields of both kinds of target. */
export type WireTarget = z.infer<typeof wireTarget>

/** A contextual target (specification, "Contextual target"). */
export const wireContextualTarget = z.looseObject({
  ...wireTarget.shape,
  reach: lenient(z.union([z.array(text), text])),
})

/** See `wireContextualTarget`. */
export type WireContextualTarget = z.infer<typeof wireContextualTarget>

/** A behavioral audience (specification, "Behavioral audience"). */
export const wireBehavioralAudience = z.looseObject({
  ...wireTarget.shape,
  audienceType: z.string().nullish(),
  attribute: z.string().nullish(),
})

/** See `wireBehavioralAudience`. */
export type WireBehavioralAudience = z.infer<typeof wireBehavioralAudience>

/** The envelope of a listing, its records cut out (specification, section 2). Only remaining records are validated. */
export const wireTargetingPage = z.looseObject({
  totalResults: lenient(numberLike),
  contextual: z.array(z.never()).nullish(),
  behavioral: z.array(z.never()).nullish(),
})

/** What is published about a contextual target (specification). */
export const publishedContextualTarget = describePublished(wireContextualTarget, {
  values: { 'reach[]': [1, 2, 3, 4, 5, 6, 7].map((tier) => `TIER_${tier}`) },
})

/** What is published about a behavioral audience (specification). */
export const publishedBehavioralAudience = describePublished(wireBehavioralAudience, {
  values: {
    audienceType: Object.keys(audienceAttributes),
    attribute: Object.values(audienceAttributes).flat(),
  },
})
