import { z } from 'zod'
import { contentNotFound, Refusal } from '../core/errors.ts'
import type { World } from '../world.ts'

const enrolmentSchema = z.strictObject({
  /** Whether the seller takes part in the fulfilment service. */
  fulfillment: z.boolean().default(true),
  /** Whether it also does so for other sales channels. */
  multichannel: z.boolean().default(true),
  /** The answer to a seller that does not: a 404 with Spring's default body or `CONTENT_NOT_FOUND`, or a 401 that names the programme. */
  answer: z.enum(['spring', 'content-not-found', 'ineligible']).default('spring'),
})
type Enrolment = z.infer<typeof enrolmentSchema>

/** Body of `PUT /_sandbox/enrolment`; what is left out is as at the start. */
export const enrolmentBody = enrolmentSchema.extend({ sellerId: z.string().min(1).optional() })

export const readEnrolment = ({ meta }: World, sellerId: string): Enrolment => meta.read(`enrolment:${sellerId}`, enrolmentSchema)

export const enrol = ({ meta }: World, sellerId: string, enrolment: Enrolment): void => {
  meta.keep(`enrolment:${sellerId}`, enrolment)
}

const notEligible = (): Refusal => {
  const description = 'Program Eligibility is not enabled'
  return new Refusal(
    401,
    [{ code: 'UNAUTHORIZED.GMP_FULFILLMENT_API', field: 'data', description, severity: 'ERROR', category: 'REQUEST' }],
    'flat',
  )
}

/** Sellers that are not enrolled get 404 on all paths of the service (public facts, section 7.4), or 401. */
export const requireEnrolment = (world: World, sellerId: string, service: 'fulfillment' | 'multichannel'): void => {
  const enrolment = readEnrolment(world, sellerId)
  if (enrolment.fulfillment && (service === 'fulfillment' || enrolment.multichannel)) return
  if (enrolment.answer === 'ineligible') throw notEligible()
  const shape = enrolment.answer === 'spring' ? 'spring' : 'flat'
  throw contentNotFound('The seller is not enrolled in this service', 'GMP_FULFILLMENT_API', shape)
}
