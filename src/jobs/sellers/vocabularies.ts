import { profiles } from '../../clients/marketplace/profiles/index.ts'
import { vocabulary } from '../../clients/marketplace/vocabulary.ts'
import type { SellerSettings } from '../../config/config.ts'
import type { FindVocabulary } from '../../domain/values/vocabulary.ts'

/** In whose words each seller's data is. */
export interface Vocabularies {
  /** Those of the seller's profile; for a seller whom this process does not serve, those that all profiles share. */
  readonly of: FindVocabulary
  /** Takes over settings that were read again. */
  learn(sellers: readonly SellerSettings[]): void
}

/** Remembers which profile each seller has. */
export const createVocabularies = (sellers: readonly SellerSettings[]): Vocabularies => {
  let profileNames = new Map<string, string>()
  const learn = (settings: readonly SellerSettings[]): void => {
    profileNames = new Map(settings.map(({ sellerId, profile }) => [sellerId, profile]))
  }
  learn(sellers)
  return {
    of: (sellerId) => profiles.get(profileNames.get(sellerId ?? '') ?? '')?.vocabulary ?? vocabulary,
    learn,
  }
}
