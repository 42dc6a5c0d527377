import { expect, test } from 'vitest'
import { specification, walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { createVocabularies } from '../../src/jobs/sellers/vocabularies.ts'

test('each seller has the words of its profile, others those of the specification, and settings that are read again count', () => {
  const sellers = (profile: 'specification' | 'walmart-us') =>
    readConfig({}, false).sellers.map((seller) => ({ ...seller, sellerId: 's-1', profile }))
  const vocabularies = createVocabularies(sellers('walmart-us'))
  expect(vocabularies.of('s-1')).toBe(walmartUs.vocabulary)
  expect([vocabularies.of('s-2'), vocabularies.of(null)]).toEqual([specification.vocabulary, specification.vocabulary])
  vocabularies.learn(sellers('specification'))
  expect(vocabularies.of('s-1')).toBe(specification.vocabulary)
})
