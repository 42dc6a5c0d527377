import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeSettings } from '../../src/domain/campaigns/settings-evidence.ts'
import {
  accountSettings,
  contiguousStates,
  settingsDifferences,
  shippingSettingsSchema,
  withPublishedCarriers,
} from '../../src/domain/campaigns/shipping-settings.ts'
import { parseCommand } from '../../src/domain/commands/command.ts'
import { eventFaults, readEvent } from '../../src/domain/events/event-reading.ts'
import { planCommands, planSettings } from '../../src/domain/events/events.ts'
import { vocabulary } from '../support/vocabulary.ts'
import { configuration, money, region, settings, validSettings } from './support/shipping-settings.ts'

const type = 'erp.shipping-settings.defined'
const root = 'data.simplifiedShippingSettings.accountConfigs'

const listFaults = (simplifiedShippingSettings: unknown): Record<string, string> =>
  Object.fromEntries(
    eventFaults(readEvent({ type, data: { simplifiedShippingSettings } }), { vocabulary }).map(
      (fault) => [fault.path, fault.message] as const,
    ),
  )

/** A copy with one value put somewhere else than it was; `undefined` takes it away. */
const mutated = (value: unknown, path: readonly (string | number)[], change: (before: unknown) => unknown): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  if (Array.isArray(value)) return value.map((entry, index) => (index === key ? mutated(entry, rest, change) : entry))
  if (typeof value !== 'object' || value === null) throw new Error(`there is no ${String(key)}`)
  return Object.fromEntries(
    [...new Set([...Object.keys(value), String(key)])].flatMap((name) => {
      const member = Reflect.get(value, name)
      const next = name === key ? mutated(member, rest, change) : member
      return next === undefined ? [] : [[name, next]]
    }),
  )
}

const first = ['accountConfigs', 'carrierConfigs', 0] as const
const firstConfiguration = [...first, 'configurations', 0] as const
const charge = [...firstConfiguration, 'shippingCharge'] as const
const at = (rest: string): string => `${root}.carrierConfigs[0]${rest}`

/** Each takes valid settings to settings with one thing wrong; the path is where that is reported. */
const mutations: readonly {
  readonly name: string
  readonly path: readonly (string | number)[]
  readonly change: (before: unknown) => unknown
  readonly told: string
}[] = [
  { name: 'no settings', path: [], change: () => undefined, told: 'data.simplifiedShippingSettings' },
  { name: 'no priority', path: ['accountConfigs', 'shippingPriority'], change: () => ' ', told: `${root}.shippingPriority` },
  {
    name: 'a flag that is none',
    path: ['accountConfigs', 'migrateFreeShippingOffers'],
    change: () => 'yes',
    told: `${root}.migrateFreeShippingOffers`,
  },
  { name: 'no carriers at all', path: ['accountConfigs', 'carrierConfigs'], change: () => [], told: `${root}.carrierConfigs` },
  { name: 'an element without carriers', path: [...first, 'carriers'], change: () => [], told: at('.carriers') },
  {
    name: 'an element without configurations',
    path: [...first, 'configurations'],
    change: () => [],
    told: at('.configurations'),
  },
  {
    name: 'an unknown carrier',
    path: [...first, 'carriers', 0, 'carrierName'],
    change: () => 'Pony Express',
    told: at('.carriers[0].carrierName'),
  },
  {
    name: 'a service of another carrier',
    path: [...first, 'carriers', 0],
    change: () => ({ carrierName: 'UPS', carrierService: 'FEDEX_EXPRESS' }),
    told: at('.carriers[0].carrierService'),
  },
  {
    name: 'a service without a mailbox to a post office box',
    path: [...first],
    change: (before) => ({
      ...Object(before),
      carriers: [{ carrierName: 'UPS', carrierService: 'UPS_GROUND' }],
      configurations: [configuration([region('C')], { addressTypes: ['STREET', 'PO_BOX'] })],
    }),
    told: at('.configurations[0].addressTypes[1]'),
  },
  {
    name: 'a service without a mailbox to APO/FPO',
    path: [...first],
    change: () => ({
      carriers: [{ carrierName: 'Fedex', carrierService: 'FEDEX_OVERNIGHT' }],
      configurations: [configuration([region('C'), region('A')])],
    }),
    told: at('.configurations[0].regions[1].regionCode'),
  },
  {
    name: 'a region code with the name of another',
    path: [...firstConfiguration, 'regions', 0, 'regionName'],
    change: () => 'Somewhere',
    told: at('.configurations[0].regions[0].regionCode'),
  },
  {
    name: 'an unknown region code',
    path: [...firstConfiguration, 'regions', 0, 'regionCode'],
    change: () => 'Z',
    told: at('.configurations[0].regions[0].regionCode'),
  },
  {
    name: 'a region twice for a carrier',
    path: [...firstConfiguration, 'regions'],
    change: (before) => (Array.isArray(before) ? [...before, before[0]] : before),
    told: 'repeated',
  },
  {
    name: 'a state twice',
    path: [...firstConfiguration, 'regions'],
    change: () => [region('C', { states: [...contiguousStates, 'tx'].map((stateCode) => ({ stateCode })) })],
    told: at(`.configurations[0].regions[0].states[${contiguousStates.length}].stateCode`),
  },
  {
    name: 'no address type',
    path: [...firstConfiguration, 'addressTypes'],
    change: () => [],
    told: at('.configurations[0].addressTypes'),
  },
  { name: 'no charge', path: charge, change: () => undefined, told: at('.configurations[0].shippingCharge') },
  { name: 'an empty charge', path: charge, change: () => ({}), told: at('.configurations[0].shippingCharge') },
  {
    name: 'a charge without perShippingCharge',
    path: [...charge, 'perShippingCharge'],
    change: () => undefined,
    told: at('.configurations[0].shippingCharge.perShippingCharge'),
  },
  {
    name: 'neither of the two charges',
    path: [...charge, 'perShippingCharge'],
    change: (before) => ({ ...Object(before), chargePerItem: undefined, chargePerWeight: null }),
    told: at('.configurations[0].shippingCharge.perShippingCharge'),
  },
  {
    name: 'both of the two charges',
    path: [...charge, 'perShippingCharge'],
    change: (before) => ({ ...Object(before), chargePerItem: money(1), chargePerWeight: money(1) }),
    told: at('.configurations[0].shippingCharge.perShippingCharge'),
  },
  ...['700.01', 701, '1000000'].map((amount) => ({
    name: `an amount of ${amount}`,
    path: [...charge, 'perShippingCharge', 'shippingAndHandling', 'amount'],
    change: () => amount,
    told: at('.configurations[0].shippingCharge.perShippingCharge.shippingAndHandling.amount'),
  })),
  ...['-1', -0.01, '1e3', 'a lot', null, '0.0000001'].map((amount) => ({
    name: `an amount of ${String(amount)}`,
    path: [...charge, 'perShippingCharge', 'shippingAndHandling', 'amount'],
    change: () => amount,
    told: at('.configurations[0].shippingCharge.perShippingCharge.shippingAndHandling.amount'),
  })),
  {
    name: 'no currency',
    path: [...charge, 'perShippingCharge', 'shippingAndHandling', 'currency'],
    change: () => undefined,
    told: at('.configurations[0].shippingCharge.perShippingCharge.shippingAndHandling.currency'),
  },
]

describe('settings that the marketplace takes', () => {
  it('have no fault, and become the command that creates them', () => {
    fc.assert(
      fc.property(validSettings, (valid) => {
        expect(listFaults(valid)).toEqual({})
        const plan = planSettings(readEvent({ type, data: { simplifiedShippingSettings: valid } }), null, { vocabulary })
        if (!plan.ok) throw new Error(JSON.stringify(plan.faults))
        const { kind, payload } = plan.command
        expect(parseCommand(kind, JSON.parse(JSON.stringify(payload)))).toEqual({ kind, payload })
        const again = accountSettings(payload.simplifiedShippingSettings)
        expect(settingsDifferences(again, again)).toEqual([])
      }),
    )
  })

  it('keep what nobody knows here, take the published spelling of carriers, and amounts to the last digit', () => {
    const [config] = settings().accountConfigs.carrierConfigs
    const carriers = [{ carrierName: ' fedex', carrierService: 'FEDEX_2DAY_EXPRESS', depot: 7 }]
    const rates = { unitOfMeasure: 'LB', shippingAndHandling: money(0.1), chargePerWeight: { ...money('0.30'), note: 'x' } }
    const read = shippingSettingsSchema.parse({
      ...settings({
        carrierConfigs: [
          {
            ...config,
            carriers,
            configurations: [
              configuration([region('C')], {
                shippingCharge: { rateModelType: 'PER_SHIPMENT_PRICING', perShippingCharge: rates },
              }),
            ],
          },
        ],
      }),
      shipNodeConfigs: [{ any: 'thing' }],
    })
    const parsed = withPublishedCarriers(read, vocabulary.settingsCarriers)
    expect(parsed).toMatchObject({
      shipNodeConfigs: [{ any: 'thing' }],
      accountConfigs: {
        carrierConfigs: [
          {
            carriers: [{ carrierName: 'Fedex', carrierService: 'FEDEX_2DAY_EXPRESS', depot: 7 }],
            configurations: [
              {
                shippingCharge: {
                  perShippingCharge: { shippingAndHandling: { amount: '0.1' }, chargePerWeight: { amount: '0.30', note: 'x' } },
                },
              },
            ],
          },
        ],
      },
    })
  })
})

describe('settings that the marketplace would refuse', () => {
  it.each(mutations.map((mutation) => [mutation.name, mutation] as const))('%s is found with its path', (_name, mutation) => {
    const { path, change, told } = mutation
    fc.assert(
      fc.property(validSettings, (valid) => {
        const [config] = valid.accountConfigs.carrierConfigs
        const repeated = at(`.configurations[0].regions[${config?.configurations[0]?.regions.length ?? 0}].regionCode`)
        const faults = listFaults(mutated(valid, path, change))
        expect(Object.keys(faults)).toContain(told === 'repeated' ? repeated : told)
      }),
      { numRuns: 30 },
    )
  })

  it('say what is wrong in words', () => {
    const [config] = settings().accountConfigs.carrierConfigs
    const wrong = settings({
      carrierConfigs: [
        {
          ...config,
          carriers: [
            { carrierName: 'UPS', carrierService: 'USPS_GROUND' },
            { carrierName: 'DHL', carrierService: 'DHL_EXPRESS' },
          ],
          configurations: [configuration([{ regionCode: 'C', regionName: 'AK and HI' }], { shippingCharge: {} })],
        },
      ],
    })
    expect(listFaults(wrong)).toEqual({
      [at('.carriers[0].carrierService')]:
        'is USPS_GROUND, which is no service of UPS; it must be one of UPS_GROUND, UPS_3DAY_SELECT, UPS_2DAY_AIR, UPS_NEXTDAY_AIR, UPS_SUREPOST',
      [at('.carriers[1].carrierName')]: 'is DHL, which is no carrier of the marketplace; it must be one of Fedex, UPS, USPS',
      [at('.configurations[0].regions[0].regionCode')]: 'is C, which stands for 48 State, not for AK and HI',
      [at('.configurations[0].shippingCharge')]: 'must not be empty: every configuration needs its charge',
    })
  })

  it.each([
    ['only Alaska and Hawaii', [region('H')], 'AL, AR, AZ, CA, CO and 44 more'],
    [
      'all states but one',
      [region('C', { states: contiguousStates.filter((code) => code !== 'TX').map((stateCode) => ({ stateCode })) })],
      'TX',
    ],
  ])('%s is no full coverage', (_name, regions, missing) => {
    const carriers = [{ carrierName: 'USPS', carrierService: 'USPS_GROUND' }]
    const faults = listFaults(settings({ carrierConfigs: [{ carriers, configurations: [configuration(regions)] }] }))
    expect(faults).toEqual({ [`${root}.carrierConfigs`]: `must cover all 48 states and DC; missing: ${missing}` })
  })

  it('may share out the states over carriers, and services of one carrier over one configuration', () => {
    const half = (from: number, to?: number) =>
      region('C', { states: contiguousStates.slice(from, to).map((stateCode) => ({ stateCode })) })
    const carrierConfigs = [
      {
        carriers: [
          { carrierName: 'UPS', carrierService: 'UPS_GROUND' },
          { carrierName: 'UPS', carrierService: 'UPS_2DAY_AIR' },
        ],
        configurations: [configuration([half(0, 20)])],
      },
      { carriers: [{ carrierName: 'USPS', carrierService: 'USPS_GROUND' }], configurations: [configuration([half(20)])] },
    ]
    expect(listFaults(settings({ carrierConfigs }))).toEqual({})
  })

  it('are found even where other parts cannot be read', () => {
    for (const odd of [
      null,
      7,
      'x',
      [],
      [7],
      { carrierConfigs: 7 },
      { carrierConfigs: [null, { carriers: 7, configurations: [7] }] },
    ]) {
      expect(Object.keys(listFaults({ accountConfigs: odd }))).not.toEqual([])
      expect(Object.keys(listFaults(odd))).not.toEqual([])
    }
  })

  it('exist already, as far as is known', () => {
    const event = { type, data: { simplifiedShippingSettings: settings() } }
    const plan = planSettings(readEvent(event), { observedAt: new Date('2026-11-01T00:00:00Z') }, { vocabulary })
    expect(plan).toEqual({
      ok: false,
      faults: [
        {
          path: 'data.simplifiedShippingSettings',
          message: 'cannot be created: account-level settings exist already, as seen on 2026-11-01T00:00:00.000Z',
        },
      ],
    })
  })
})

describe('an event about shipping settings', () => {
  it('names no order, and its seller only where it must', () => {
    const data = { simplifiedShippingSettings: settings() }
    expect(readEvent({ type, data }).address).toEqual({ sellerId: null, purchaseOrderId: null, returnOrderId: null })
    expect(readEvent({ type, data: { ...data, sellerId: 'S1' } }).address).toEqual({
      sellerId: 'S1',
      purchaseOrderId: null,
      returnOrderId: null,
    })
    expect(readEvent({ type, data: { sellerId: 7 } }).address).toBeNull()
  })

  it('is none of an order', () => {
    const order = {
      purchaseOrderId: '1',
      customerOrderId: null,
      orderDate: null,
      orderType: null,
      shipNodeType: null,
      methodCode: null,
      estimatedShipDate: null,
      estimatedDeliveryDate: null,
      customerName: null,
      customerEmail: null,
      customerPhone: null,
      shippingAddress: null,
      totalAmount: null,
      currency: null,
      lines: [],
      raw: {},
    }
    expect(
      planCommands(readEvent({ type, data: { simplifiedShippingSettings: settings() } }), order, [], { vocabulary }).ok,
    ).toBe(false)
  })
})

describe('settings read back', () => {
  const asked = accountSettings(shippingSettingsSchema.parse(settings()))
  const found = (overrides: object) => accountSettings(shippingSettingsSchema.parse(settings(overrides)))
  const sent = { accepted: false, mayBeApplied: true }

  it('are ours in any order and grouping', () => {
    const [ups, usps] = settings().accountConfigs.carrierConfigs
    const carrierConfigs = [usps, { ...ups, configurations: ups?.configurations.toReversed() }]
    expect(settingsDifferences(asked, found({ carrierConfigs }))).toEqual([])
    const split = [usps, ...(ups?.configurations ?? []).map((one) => ({ ...ups, configurations: [one] }))]
    expect(settingsDifferences(asked, found({ carrierConfigs: split }))).toEqual([])
    expect(judgeSettings(asked, sent, found({ carrierConfigs })).verdict).toBe('applied')
  })

  it('are ours where an address type or a carrier was named twice, whichever side repeats it', () => {
    const [ups] = settings().accountConfigs.carrierConfigs
    const repeated = (times: number) =>
      found({
        carrierConfigs: [
          {
            carriers: (ups?.carriers ?? []).flatMap((carrier) => Array.from({ length: times }, () => carrier)),
            configurations: [
              configuration([region('C')], { addressTypes: Array.from({ length: times }, () => 'STREET') }),
              configuration([region('H')]),
            ],
          },
        ],
      })
    for (const [before, after] of [
      [1, 2],
      [2, 1],
      [2, 2],
    ] as const) {
      expect(judgeSettings(repeated(before), sent, repeated(after)).verdict).toBe('applied')
    }
    expect(repeated(2)).toEqual(repeated(1))
  })

  it('are not ours where one of two charges for the same is another', () => {
    const [ups, usps] = settings().accountConfigs.carrierConfigs
    const dear = configuration([region('C')], {
      shippingCharge: {
        rateModelType: 'PER_SHIPMENT_PRICING',
        perShippingCharge: { unitOfMeasure: 'LB', shippingAndHandling: money('9'), chargePerItem: money('1.5') },
      },
    })
    for (const configurations of [
      [dear, ...(ups?.configurations ?? [])],
      [...(ups?.configurations ?? []), dear],
    ]) {
      const differences = settingsDifferences(asked, found({ carrierConfigs: [{ ...ups, configurations }, usps] }))
      expect(differences).toEqual(['UPS_GROUND to C (STREET): was not asked for'])
    }
  })

  it('count as not applied while there are none', () => {
    expect(judgeSettings(asked, sent, null)).toMatchObject({ verdict: 'not-applied' })
    expect(judgeSettings(asked, sent, null).ruledOut).toBeUndefined()
  })

  it('rule ours out when they are others, unless ours were accepted', () => {
    const others = found({ shippingPriority: 'COST_SAVINGS' })
    expect(judgeSettings(asked, sent, others)).toEqual({
      verdict: 'not-applied',
      lines: [],
      explanation: 'other settings exist already: shippingPriority is COST_SAVINGS, not FASTEST',
      ruledOut: true,
    })
    expect(judgeSettings(asked, { accepted: true, mayBeApplied: true }, others).verdict).toBe('unclear')
  })

  it('are not ours when every request was refused', () => {
    expect(judgeSettings(asked, { accepted: false, mayBeApplied: false }, asked)).toMatchObject({
      verdict: 'not-applied',
      ruledOut: true,
    })
  })

  it('tell each difference', () => {
    const carriers = [{ carrierName: 'UPS', carrierService: 'UPS_GROUND' }]
    const rates = { unitOfMeasure: 'LB', shippingAndHandling: money('4.990'), chargePerItem: money('1.51') }
    const shippingCharge = { rateModelType: 'PER_SHIPMENT_PRICING', perShippingCharge: rates }
    const carrierConfigs = [{ carriers, configurations: [configuration([region('C'), region('P')], { shippingCharge })] }]
    expect(settingsDifferences(asked, found({ carrierConfigs, migrateFreeShippingOffers: false }))).toEqual([
      'migrateFreeShippingOffers is false, not true',
      'UPS_GROUND to C (STREET): chargePerItem is 1.51 USD, not 1.50 USD',
      'UPS_GROUND to H (STREET): is not there',
      'USPS_PRIORITY_MAIL to P (PO_BOX): is not there',
      'USPS_PRIORITY_MAIL to P (STREET): is not there',
      'UPS_GROUND to P (STREET): was not asked for',
    ])
  })
})

describe('the two forms of settings', () => {
  const second = { ...vocabulary, settingsForm: { hasPriority: false, methods: ['STANDARD', 'RUSH'] } }
  const faultsIn = (form: typeof vocabulary, given: object) =>
    eventFaults(readEvent({ type, data: { simplifiedShippingSettings: given } }), { vocabulary: form })
  const withMethods = (...methods: readonly (string | undefined)[]) => ({
    carrierConfigs: methods.map((shippingMethod) => ({
      shippingMethod,
      carriers: [{ carrierName: 'UPS', carrierService: 'UPS_GROUND' }],
      configurations: [configuration([region('C')])],
    })),
  })
  const notPart = 'is not part of the shipping settings of this marketplace: leave it out'

  it('refuse what the other form has, and what neither has', () => {
    expect(faultsIn(vocabulary, settings({ shippingPriority: undefined }))).toEqual([
      { path: `${root}.shippingPriority`, message: 'is missing' },
    ])
    expect(faultsIn(vocabulary, settings(withMethods('STANDARD')))).toEqual([{ path: at('.shippingMethod'), message: notPart }])
    expect(faultsIn(second, settings())).toEqual([{ path: `${root}.shippingPriority`, message: notPart }])
    expect(faultsIn(second, settings({ shippingPriority: undefined, ...withMethods('SLOW') }))).toEqual([
      { path: at('.shippingMethod'), message: 'must be one of STANDARD, RUSH' },
    ])
  })

  it('count a region under two methods as two, and one under no method twice as repeated', () => {
    expect(faultsIn(second, settings({ shippingPriority: undefined, ...withMethods('STANDARD', 'RUSH') }))).toEqual([])
    expect(faultsIn(second, settings({ shippingPriority: undefined, ...withMethods(undefined, undefined) }))).toEqual([
      { path: `${root}.carrierConfigs[1].configurations[0].regions[0].regionCode`, message: 'is C, which UPS has already' },
    ])
    expect(faultsIn(second, settings({ shippingPriority: undefined, ...withMethods('RUSH', 'RUSH') }))[0]?.message).toBe(
      'is C, which UPS has already for RUSH',
    )
  })

  it('compare methods, and a priority only where one was requested', () => {
    const read = (given: object) => accountSettings(shippingSettingsSchema.parse(settings(given)))
    const asked = read({ shippingPriority: undefined, ...withMethods('STANDARD') })
    expect(settingsDifferences(asked, asked)).toEqual([])
    expect(settingsDifferences(asked, read(withMethods('STANDARD')))).toEqual([])
    expect(settingsDifferences(asked, read({ shippingPriority: undefined, ...withMethods('RUSH') }))).toEqual([
      'UPS_GROUND (STANDARD) to C (STREET): is not there',
      'UPS_GROUND (RUSH) to C (STREET): was not asked for',
    ])
    // A marketplace may show its own method where none was requested.
    const given = (...methods: readonly (string | undefined)[]) =>
      read({ shippingPriority: undefined, ...withMethods(...methods) })
    expect(settingsDifferences(given(undefined), given('STANDARD'))).toEqual([])
    expect(settingsDifferences(given(undefined, 'RUSH'), given('RUSH', 'STANDARD'))).toEqual([])
    expect(settingsDifferences(given('STANDARD'), given(undefined))).toHaveLength(2)
  })
})
