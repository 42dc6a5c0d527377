import { z } from 'zod'

const text = z.string().min(1)
const authHeaderName = z
  .string()
  .regex(/^[\w.-]+$/)
  .default('Authorization')

/** How the receiver authenticates deliveries (public facts, sections 9.1 and 15). */
export const authDetailsSchema = z.discriminatedUnion('authMethod', [
  z.object({ authMethod: z.literal('BASIC_AUTH'), userName: text, password: text, authHeaderName }),
  z.object({ authMethod: z.literal('HMAC'), clientSecret: text, authHeaderName }),
  z.object({
    authMethod: z.literal('OAUTH'),
    clientId: text,
    clientSecret: text,
    authUrl: z.url({ protocol: /^https?$/ }),
    authHeaderName,
  }),
])
export type AuthDetails = z.infer<typeof authDetailsSchema>

/** Where and how deliveries are sent. */
export const targetSchema = z.object({
  eventUrl: z.url({ protocol: /^https?$/ }),
  authDetails: authDetailsSchema.nullish(),
  headers: z.record(z.string().regex(/^[\w.-]+$/), z.string()).nullish(),
})
export type Target = z.infer<typeof targetSchema>

export const statuses = ['ACTIVE', 'INACTIVE'] as const

/** The subscription of a seller to an event type. */
export const subscriptionSchema = targetSchema.extend({
  subscriptionId: text,
  sellerId: text,
  eventType: text,
  resourceName: text,
  status: z.enum(statuses),
})
export type Subscription = z.infer<typeof subscriptionSchema>

/** How deliveries are signed and repeated; `PUT /_sandbox/notifications`. */
export const formSchema = z.strictObject({
  /** HMAC: `body` in the header that the subscriber names, or `request` in `WM_SEC.SIGNATURE` (public facts, section 15). */
  signature: z.enum(['body', 'request']).default('body'),
  /** Of the signature of the body. */
  encoding: z.enum(['base64', 'hex']).default('base64'),
  /** Whether user and password follow the word `Basic`; the published texts name only their Base64. */
  basicScheme: z.boolean().default(true),
  /** Real milliseconds from a failed attempt to the next one. */
  retryMs: z.number().int().min(0).max(3_600_000).default(1_000),
})
export type Form = z.infer<typeof formSchema>

/** Where a delivery is. `dropped`: it is never sent. */
export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'dropped'

/** One notification to one subscriber. */
export interface Delivery {
  readonly id: number
  readonly sellerId: string
  readonly subscriptionId: string
  readonly eventType: string
  readonly eventId: string
  readonly body: string
  readonly state: DeliveryState
  readonly attempts: number
  /** Real epoch milliseconds of its next attempt. */
  readonly dueAt: number
  /** Whether its faults have been drawn. */
  readonly planned: boolean
  /** Whether it is sent with a wrong secret. */
  readonly forged: boolean
  readonly httpStatus: number | null
  readonly error: string | null
}
