import type { Cents } from '../core/money.ts'

export interface Product {
  readonly sku: string
  readonly productName: string
  readonly price: Cents
  readonly weightPounds: string
}

/** What the made-up sellers sell; the bundles are one line with one price for several things in one box. */
export const catalogue: readonly [Product, ...Product[]] = [
  { sku: 'MUG-ENAMEL-12', productName: 'Enamel Camping Mug, 12 oz, Forest Green', price: 1249, weightPounds: '0.45' },
  { sku: 'LAMP-DESK-LED', productName: 'LED Desk Lamp with Clamp, Dimmable', price: 3499, weightPounds: '2.1' },
  { sku: 'TOWEL-BATH-4', productName: 'Cotton Bath Towels, Set of 4, Slate', price: 2797, weightPounds: '4.2' },
  { sku: 'BOTTLE-STEEL-24', productName: 'Insulated Steel Bottle, 24 oz', price: 1999, weightPounds: '0.9' },
  { sku: 'KNIFE-CHEF-8', productName: "Chef's Knife, 8 inch, Carbon Steel", price: 4550, weightPounds: '0.7' },
  { sku: 'SHEET-QUEEN-GR', productName: 'Percale Sheet Set, Queen, Grey', price: 5999, weightPounds: '3.8' },
  { sku: 'CABLE-USBC-2M', productName: 'USB-C Cable, 2 m, Braided', price: 899, weightPounds: '0.12' },
  { sku: 'PLANTER-TERRA-8', productName: 'Terracotta Planter with Saucer, 8 inch', price: 1675, weightPounds: '3.3' },
  { sku: 'PAN-IRON-10', productName: 'Cast Iron Skillet, 10 inch', price: 2488, weightPounds: '5.4' },
  { sku: 'RUG-JUTE-5X7', productName: 'Jute Area Rug, 5 x 7 ft', price: 8999, weightPounds: '11.5' },
  { sku: 'BATTERY-AA-24', productName: 'AA Alkaline Batteries, 24 Pack', price: 1333, weightPounds: '1.3' },
  { sku: 'SOAP-OAT-6', productName: 'Oatmeal Bar Soap, Pack of 6', price: 1019, weightPounds: '1.5' },
  { sku: 'BACKPACK-22L', productName: 'Day Backpack, 22 L, Navy', price: 4295, weightPounds: '1.6' },
  { sku: 'PUZZLE-1000-MAP', productName: 'Jigsaw Puzzle, 1000 Pieces, World Map', price: 1590, weightPounds: '1.4' },
  { sku: 'TENT-2P', productName: 'Two Person Tent with Footprint', price: 12999, weightPounds: '5.9' },
  { sku: 'COFFEE-DARK-2LB', productName: 'Dark Roast Whole Bean Coffee, 2 lb', price: 2145, weightPounds: '2.0' },
  { sku: 'CANDLE-CEDAR', productName: 'Soy Candle, Cedar and Amber, 8 oz', price: 1401, weightPounds: '1.1' },
  { sku: 'MAT-YOGA-6', productName: 'Yoga Mat, 6 mm, Plum', price: 2679, weightPounds: '2.6' },
  { sku: 'BUNDLE-CAMP-COOK', productName: 'Bundle: Camp Kitchen (2 Mugs, Skillet, Bottle)', price: 6533, weightPounds: '7.7' },
  { sku: 'BUNDLE-BATH-SPA', productName: 'Bundle: Bath Set (4 Towels, 6 Soaps, Candle)', price: 4717, weightPounds: '6.8' },
  { sku: 'PACK3-CABLE-USBC', productName: 'Virtual Pack: 3 x USB-C Cable, 2 m', price: 2300, weightPounds: '0.36' },
]

export const firstNames = [
  'Ana',
  'Ben',
  'Chloe',
  'Dmitri',
  'Elena',
  'Farid',
  'Grace',
  'Hugo',
  'Imani',
  'Jonas',
  'Keiko',
  'Luis',
] as const
export const lastNames = [
  'Abbott',
  'Brandt',
  'Castillo',
  'Dufour',
  'Egan',
  'Fontaine',
  'Garza',
  'Holm',
  'Ito',
  'Jensen',
  'Kowalski',
] as const
export const streets = ['Alder St', 'Birch Ave', 'Canal Rd', 'Dune Way', 'Elm Ct', 'Fern Ln', 'Grove Blvd', 'Harbor Dr'] as const

/** City, state, first digits of the postal code, sales tax in basis points (0: no tax on the line at all). */
export const places = [
  ['Dayton', 'OH', '454', 725],
  ['Portland', 'OR', '972', 0],
  ['Austin', 'TX', '787', 825],
  ['Boise', 'ID', '837', 600],
  ['Missoula', 'MT', '598', 0],
  ['Savannah', 'GA', '314', 700],
  ['Duluth', 'MN', '558', 888],
  ['Fresno', 'CA', '937', 835],
  ['Tampa', 'FL', '336', 750],
] as const

export const returnReasons = [
  'DAMAGED',
  'DEFECTIVE',
  'NO_LONGER_WANTED',
  'NOT_AS_DESCRIBED',
  'WRONG_SIZE',
  'MISSING_PARTS',
  'ARRIVED_LATE',
] as const
