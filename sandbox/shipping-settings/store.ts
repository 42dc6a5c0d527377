import { type Database, toInteger, toText } from '../core/database.ts'
import { type SellerTraits, sellerTraits } from './rules.ts'

/** Account-level shipping settings, at most one a seller, and what the marketplace knows about sellers. */
export interface ShippingSettingsStore {
  /** The object under `simplifiedShippingSettings`; `null` when the seller has none. */
  find(sellerId: string): unknown
  insert(sellerId: string, settings: unknown): void
  /** Whether there were any. */
  remove(sellerId: string): boolean
  total(): number
  traits(sellerId: string): SellerTraits
  putTraits(sellerId: string, traits: SellerTraits): void
}

export const createShippingSettingsStore = (database: Database): ShippingSettingsStore => {
  const readTraits = (sellerId: string): SellerTraits => {
    const row = database.get('SELECT traits FROM seller_traits WHERE seller_id = ?', sellerId)
    const held = row === undefined ? [] : toText(row, 'traits').split(' ')
    const has = (trait: (typeof sellerTraits)[number]): boolean => held.includes(trait)
    return {
      thirdPartyLogistics: has('thirdPartyLogistics'),
      bundles: has('bundles'),
      internationalCenters: has('internationalCenters'),
      majorAppliances: has('majorAppliances'),
    }
  }
  return {
    find(sellerId) {
      const row = database.get('SELECT document FROM shipping_settings WHERE seller_id = ?', sellerId)
      return row === undefined ? null : JSON.parse(toText(row, 'document'))
    },
    insert(sellerId, settings) {
      database.run('INSERT INTO shipping_settings (seller_id, document) VALUES (?, ?)', sellerId, JSON.stringify(settings))
    },
    remove: (sellerId) => database.run('DELETE FROM shipping_settings WHERE seller_id = ?', sellerId) > 0,
    total() {
      const row = database.get('SELECT count(*) AS total FROM shipping_settings')
      return row === undefined ? 0 : toInteger(row, 'total')
    },
    traits: readTraits,
    putTraits(sellerId, given) {
      database.run(
        'INSERT INTO seller_traits (seller_id, traits) VALUES (?, ?) ON CONFLICT (seller_id) DO UPDATE SET traits = excluded.traits',
        sellerId,
        sellerTraits.filter((trait) => given[trait]).join(' '),
      )
    },
  }
}
