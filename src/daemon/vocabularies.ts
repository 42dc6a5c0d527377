import { profiles } from '../clients/marketplace/profiles/index.ts'
import { vocabulary } from '../clients/marketplace/vocabulary.ts'
import type { SellerSettings } from '../config.ts'
import type { VocabularyOf } from '../domain/vocabulary.ts'

/** In whose words each seller's data is. */
export interface Vocabularies {
  /** Those of the seller's profile; for a seller whom this process does not serve, those that all profiles share. */
  readonly of: VocabularyOf
  /** Takes over settings that were read again. */
  learn(sellers: readonly SellerSettings[]): void
}

/** Remembers which profile each seller has. */
export const createVocabularies = (sellers: readonly SellerSettings[]): Vocabularies => {
  let profileOf = new Map<string, string>()
  const learn = (settings: readonly SellerSettings[]): void => {
    profileOf = new Map(settings.map(({ sellerId, profile }) => [sellerId, profile]))
  }
  learn(sellers)
  return {
    of: (sellerId) => profiles.get(profileOf.get(sellerId ?? '') ?? '')?.vocabulary ?? vocabulary,
    learn,
  }
}
