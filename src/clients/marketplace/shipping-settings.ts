import type { AccountSettings, ShippingSettings } from '../../domain/campaigns/shipping-settings.ts'
import { isObject } from '../../domain/values/values.ts'
import type { SettingsForm } from '../../domain/values/vocabulary.ts'
import type { Answer, Call } from '../http/call.ts'
import type { CallOptions, SendOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { Refused } from '../http/errors.ts'
import type { JsonValue } from '../http/json.ts'
import { asRecord, type CutRecord, exactJsonNumber } from '../http/json.ts'
import { perMinute } from '../http/operation.ts'
import type { Observed } from '../http/record.ts'
import { endpoint, type Host, writeEndpoint } from './endpoint.ts'
import { holdsNoAccount, parseShippingSettings, readSettings } from './shipping-settings-record.ts'

/** A request that creates shipping settings. It contains only JSON values, since it is stored as the intent. */
export interface ShippingSettingsRequest {
  readonly operation: 'shipping-settings.create'
  readonly path: string
  readonly body: JsonValue
}

/** The account-level shipping settings of one seller. */
export interface ShippingSettingsClient {
  /** Pure. */
  prepare(settings: ShippingSettings): ShippingSettingsRequest
  /**
   * The existing settings; null if there are none. A refusal with 404 means that the marketplace does not offer this read.
   *
   * @throws MarketplaceFailure
   */
  get(options: CallOptions): Promise<Observed<AccountSettings> | null>
}

/** Creates the account-level shipping settings of one seller. */
export interface ShippingSettingsWriter {
  /**
   * Creates settings in exactly one request. Errors in the body are a refusal with any HTTP status (specification, Errors). After `Unknown`, read back before
   * sending again.
   *
   * @throws MarketplaceFailure
   */
  send(request: ShippingSettingsRequest, options: SendOptions): Promise<Observed<AccountSettings>>
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

/** The answer for a seller without settings, with any status (public facts, section 7.5). */
const noSettings = /shipping settings not found/i

/** Amounts of the ERP become JSON numbers of the same value; a null amount is omitted. The rest is sent unchanged. */
const wireBody = ({ accountConfigs, ...rest }: ShippingSettings, { hasPriority }: SettingsForm): JsonValue => {
  const money = <Money extends { readonly amount: string }>(given: Money | null | undefined) =>
    given === null || given === undefined ? undefined : { ...given, amount: exactJsonNumber(given.amount) }
  const settings = {
    ...rest,
    accountConfigs: {
      ...accountConfigs,
      shippingPriority: hasPriority ? accountConfigs.shippingPriority : undefined,
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

/** The settings of an answer, with or without their name around them; null if there are none. */
const findSettings = ({ records, envelope }: Answer): CutRecord | null => {
  const [cut] = records
  if (cut !== undefined) return holdsNoAccount(cut) ? null : cut
  return isObject(envelope) && isObject(envelope['accountConfigs']) ? asRecord(JSON.stringify(envelope)) : null
}

/** Whether an answer without settings means that there are none. */
const hasNoSettings = ({ records, envelope }: Answer): boolean =>
  records.length > 0 || (isObject(envelope) && envelope['simplifiedShippingSettings'] === null)

const observed = ({ caller }: Host, answer: Answer, cut: CutRecord, atMs: number): Observed<AccountSettings> => ({
  record: readSettings(cut),
  observedAt: caller.clock.at(atMs),
  correlationId: answer.correlationId,
  httpStatus: answer.httpStatus,
})

/** The shipping settings for one seller: the request of the creation (specification, section 4) and the read-back (public facts, section 7.5). */
const createShippingSettingsClient = (host: Host): ShippingSettingsClient => {
  const { caller, connection } = host
  const get = async (options: CallOptions): Promise<Observed<AccountSettings> | null> => {
    const call: Call = {
      operation: operations.get,
      method: 'GET',
      target: path,
      body: null,
      recordsAt: recordAt,
    }
    const answer = await caller.call(call, options).catch((error: unknown) => {
      const none = error instanceof Refused && error.faults.some(({ description }) => noSettings.test(description ?? ''))
      if (none) return null
      throw error
    })
    if (answer === null || !answer.found) return null
    const cut = findSettings(answer)
    if (cut !== null) return observed(host, answer, cut, answer.sentMs)
    if (hasNoSettings(answer)) return null
    throw caller.unexpectedAnswer(call, answer)
  }

  return {
    prepare: (settings): ShippingSettingsRequest => ({
      operation: operations.create.name,
      path: `${path}/account`,
      body: wireBody(settings, connection.profile.vocabulary.settingsForm),
    }),
    get,
  }
}

/** The creation of the shipping settings (specification, section 4), for one seller. */
const createShippingSettingsWriter = (host: Host): ShippingSettingsWriter => ({
  async send(request, options) {
    const { caller } = host
    const call: Call = {
      operation: operations.create,
      method: 'POST',
      target: request.path,
      body: JSON.stringify(request.body),
      recordsAt: recordAt,
    }
    const answer = await caller.call(call, options)
    const cut = findSettings(answer)
    if (cut === null) throw caller.unexpectedAnswer(call, answer)
    return observed(host, answer, cut, answer.answeredMs)
  },
})

/** Account-level shipping settings (specification, section 4). */
export const shippingSettingsEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: parseShippingSettings,
  create: createShippingSettingsClient,
})

/** The creation of account-level shipping settings. */
export const shippingSettingsWrites = writeEndpoint(createShippingSettingsWriter)
