import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  audienceAttributes,
  audienceKinds,
  checkAudienceChoice,
  isKnownAttribute,
  isKnownAudienceType,
  normalTier,
  reachBand,
  reachBands,
  splitTaxonPath,
} from '../../src/domain/campaigns/targeting.ts'
import { taxonomyKey } from '../../src/domain/campaigns/taxonomy.ts'

const allAttributes = [...new Set(Object.values(audienceAttributes).flat())]
const allTypes = Object.keys(audienceAttributes)

describe('kinds of audience', () => {
  // The table of the specification, written down a second time.
  const legal = new Map([
    ['RETAIL', 'HISTORICAL PREDICTIVE'],
    ['BRAND', 'HISTORICAL PREDICTIVE LAPSED_BUYERS'],
    ['PERSONA', 'LIFESTYLE LIFESTAGE AUTO SHOPPING_HABITS FOOD_BEVERAGES'],
    ['DEMOGRAPHIC', 'AGE GENDER HOUSEHOLD_INCOME'],
    ['CUSTOM', 'RULE_BASED PROPENSITY BRAND_AFFINITY LOOKALIKE ADVANCED EXTERNAL'],
  ])

  test.each(allTypes.flatMap((type) => allAttributes.map((attribute) => [type, attribute] as const)))(
    '%s with %s is allowed as the table says, in any case',
    (audienceType, attribute) => {
      const isLegal = legal.get(audienceType)?.split(' ').includes(attribute) ?? false
      for (const isNamed of [true, false]) {
        const check = () => checkAudienceChoice({ audienceType: audienceType.toLowerCase(), attribute, isNamed })
        if (isLegal) expect(check).not.toThrow()
        else expect(check).toThrow(new RegExp(`${audienceType.toLowerCase()}.*${attribute}`))
      }
    },
  )

  test('a type is needed without ids and text, an attribute too unless the type is custom', () => {
    expect(() => checkAudienceChoice({ isNamed: true })).not.toThrow()
    expect(() => checkAudienceChoice({ isNamed: false })).toThrow(RangeError)
    expect(() => checkAudienceChoice({ audienceType: 'retail', isNamed: true })).not.toThrow()
    expect(() => checkAudienceChoice({ audienceType: 'retail', isNamed: false })).toThrow(/HISTORICAL, PREDICTIVE/)
    expect(() => checkAudienceChoice({ audienceType: 'custom', isNamed: false })).not.toThrow()
    expect(() => checkAudienceChoice({ attribute: 'age', isNamed: true })).not.toThrow()
    expect(() => checkAudienceChoice({ attribute: 'AGE', isNamed: false })).toThrow(RangeError)
    expect(() => checkAudienceChoice({ attribute: 'SIZE', isNamed: true })).toThrow(/SIZE/)
    expect(() => checkAudienceChoice({ audienceType: 'pets', isNamed: true })).toThrow(/pets/)
  })

  test('every kind that can be listed can be asked for, and together they are all', () => {
    for (const { audienceType, attribute } of audienceKinds) {
      expect(() => checkAudienceChoice({ audienceType, ...(attribute !== null && { attribute }), isNamed: false })).not.toThrow()
    }
    expect(audienceKinds.map(({ audienceType, attribute }) => `${audienceType}/${attribute}`)).toEqual([
      'RETAIL/HISTORICAL',
      'RETAIL/PREDICTIVE',
      'BRAND/HISTORICAL',
      'BRAND/PREDICTIVE',
      'BRAND/LAPSED_BUYERS',
      'PERSONA/LIFESTYLE',
      'PERSONA/LIFESTAGE',
      'PERSONA/AUTO',
      'PERSONA/SHOPPING_HABITS',
      'PERSONA/FOOD_BEVERAGES',
      'DEMOGRAPHIC/AGE',
      'DEMOGRAPHIC/GENDER',
      'DEMOGRAPHIC/HOUSEHOLD_INCOME',
      'CUSTOM/null',
    ])
    expect(isKnownAudienceType('RETAIL')).toBe(true)
    expect(isKnownAudienceType('constructor')).toBe(false)
    expect(isKnownAttribute('EXTERNAL')).toBe(true)
    expect(isKnownAttribute('external')).toBe(false)
  })
})

describe('reach', () => {
  test.each([
    ['TIER_1', 'TIER_1', 'LOW'],
    ['TIER 1', 'TIER_1', 'LOW'],
    ['tier 2', 'TIER_2', 'LOW'],
    ['TIER_3', 'TIER_3', 'MID'],
    ['TIER_4', 'TIER_4', 'MID'],
    ['TIER_5', 'TIER_5', 'HIGH'],
    ['TIER_6', 'TIER_6', 'HIGH'],
    ['TIER_7', 'TIER_7', 'HIGH'],
    ['TIER_8', 'TIER_8', null],
    ['TIER 0', 'TIER 0', null],
    ['', '', null],
  ])('%j is %s, %s', (tier, normal, band) => {
    expect(normalTier(tier)).toBe(normal)
    expect(reachBand(tier)).toBe(band)
  })

  test('bands come once each, lowest first', () => {
    expect(reachBands(['TIER_7', 'TIER_5', 'TIER 1', 'TIER_9'])).toEqual(['LOW', 'HIGH'])
    expect(reachBands([])).toEqual([])
  })
})

test('a path is split at its bars, and nothing but names comes out', () => {
  expect(splitTaxonPath('Home | Kitchen & Dining|Pans ')).toEqual(['Home', 'Kitchen & Dining', 'Pans'])
  expect(splitTaxonPath(' | ')).toEqual([])
})

test('different nodes have different keys', () => {
  expect(taxonomyKey(3, ['Home', 'Kitchen', 'Pans'])).toBe('3 | Home | Kitchen | Pans')
  const name = fc.string({ unit: fc.constantFrom('a', ' ', '|', '\\', ' | '), minLength: 1 }).map((text) => `x${text}x`)
  const node = fc.record({ level: fc.integer({ min: 1, max: 3 }), path: fc.array(name, { minLength: 1, maxLength: 3 }) })
  fc.assert(
    fc.property(node, node, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other)
      return (taxonomyKey(one.level, one.path) === taxonomyKey(other.level, other.path)) === same
    }),
  )
})
