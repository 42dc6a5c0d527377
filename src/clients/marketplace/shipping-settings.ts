import type { AccountSettings, ShippingSettings } from '../../domain/shipping-settings.ts'
import { isObject } from '../../domain/values.ts'
import type { CallOptions, SendOptions } from '../call-options.ts'
import type { Answer, Call } from '../caller.ts'
import type { Operations } from '../endpoint.ts'
import { Refused } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import { asRecord, type CutRecord, exactJsonNumber } from '../json.ts'
import { perMinute } from '../operation.ts'
import type { Observed } from '../record.ts'
import { endpoint, type Host } from './endpoint.ts'
import { holdsNoAccount, parseShippingSettings, readSettings } from './shipping-settings-record.ts'

/** A creation of shipping settings as it will go over the wire; JSON through and through, so that it can be stored as the intent. */
export interface ShippingSettingsRequest {
  readonly operation: 'shipping-settings.create'
  readonly path: string
  readonly body: JsonValue
}

/** The account-level shipping settings of one seller. Every method but `prepare` throws a `MarketplaceFailure`. */
export interface ShippingSettingsClient {
  /** Pure. */
  prepare(settings: ShippingSettings): ShippingSettingsRequest
  /**
   * Sends a creation, in one request and no other, as an order's writes are sent. Errors in the body are a
   * refusal, whatever the HTTP status (specification, Errors); `Unknown` means: read back before anything is sent again.
   */
  send(request: ShippingSettingsRequest, options: SendOptions): Promise<Observed<AccountSettings>>
  /** The settings that exist, or null when there are none. A refusal with 404 means that the marketplace does not offer this read. */
  get(options: CallOptions): Promise<Observed<AccountSettings> | null>
}

/** Limits: public facts, section 5.1. */
const operations = {
  create: {
    name: 'shipping-settings.create',
    limit: perMinute(5),
    payloadKeys: ['simplifiedShippingSettings'],
    write: true,
    refusesInBody: true,
  },
  get: { name: 'shipping-settings.get', limit: perMinute(50), payloadKeys: ['simplifiedShippingSettings'] },
} as const satisfies Operations

const path = '/v3/settings/shipping/simplifiedshippingsettings'
const recordAt = ['simplifiedShippingSettings']

/** What a seller without settings is answered, with whatever status (public facts, section 7.5). */
const noneThere = /shipping settings not found/i

/** Amounts that the ERP gave become the JSON numbers that say the same; what is null is left out. Everything else goes as it came. */
const wireBody = ({ accountConfigs, ...rest }: ShippingSettings): JsonValue => {
  const money = <Money extends { readonly amount: string }>(given: Money | null | undefined) =>
    given === null || given === undefined ? undefined : { ...given, amount: exactJsonNumber(given.amount) }
  const settings = {
    ...rest,
    accountConfigs: {
      ...accountConfigs,
      carrierConfigs: accountConfigs.carrierConfigs.map((config) => ({
        ...config,
        configurations: config.configurations.map(({ shippingCharge, ...configuration }) => ({
          ...configuration,
          shippingCharge: {
            ...shippingCharge,
            perShippingCharge: {
              ...shippingCharge.perShippingCharge,
              shippingAndHandling: money(shippingCharge.perShippingCharge.shippingAndHandling),
              chargePerItem: money(shippingCharge.perShippingCharge.chargePerItem),
              chargePerWeight: money(shippingCharge.perShippingCharge.chargePerWeight),
            },
          },
        })),
      })),
    },
  }
  return JSON.parse(JSON.stringify({ simplifiedShippingSettings: settings }))
}

/** The settings of an answer, which may also stand there without their name; null when there are none. */
const settingsOf = ({ records, envelope }: Answer): CutRecord | null => {
  const [cut] = records
  if (cut !== undefined) return holdsNoAccount(cut) ? null : cut
  return isObject(envelope) && isObject(envelope['accountConfigs']) ? asRecord(JSON.stringify(envelope)) : null
}

/** Whether an answer without settings says that there are none, rather than something else. */
const saysNone = ({ records, envelope }: Answer): boolean =>
  records.length > 0 || (isObject(envelope) && envelope['simplifiedShippingSettings'] === null)

/** The shipping settings operations for one seller: creation (specification, section 4) and the read-back (public facts, section 7.5). */
const createShippingSettingsClient = ({ caller }: Host): ShippingSettingsClient => {
  const observed = (answer: Answer, cut: CutRecord, atMs: number): Observed<AccountSettings> => ({
    record: readSettings(cut),
    observedAt: caller.clock.at(atMs),
    correlationId: answer.correlationId,
    httpStatus: answer.httpStatus,
  })

  const get = async (options: CallOptions): Promise<Observed<AccountSettings> | null> => {
    const call: Call = {
      operation: operations.get,
      method: 'GET',
      target: path,
      body: null,
      recordsAt: recordAt,
    }
    const answer = await caller.call(call, options).catch((error: unknown) => {
      const none = error instanceof Refused && error.faults.some(({ description }) => noneThere.test(description ?? ''))
      if (none) return null
      throw error
    })
    if (answer === null || !answer.found) return null
    const cut = settingsOf(answer)
    if (cut !== null) return observed(answer, cut, answer.sentMs)
    if (saysNone(answer)) return null
    throw caller.misfit(call, answer)
  }

  return {
    prepare: (settings): ShippingSettingsRequest => ({
      operation: operations.create.name,
      path: `${path}/account`,
      body: wireBody(settings),
    }),
    async send(request, options) {
      const call: Call = {
        operation: operations.create,
        method: 'POST',
        target: request.path,
        body: JSON.stringify(request.body),
        recordsAt: recordAt,
      }
      const answer = await caller.call(call, options)
      const cut = settingsOf(answer)
      if (cut === null) throw caller.misfit(call, answer)
      return observed(answer, cut, answer.answeredMs)
    },
    get,
  }
}

/** Account-level shipping settings (specification, section 4). */
export const shippingSettingsEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: parseShippingSettings,
  create: createShippingSettingsClient,
})
