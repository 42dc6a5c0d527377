/** The kinds of behavioral audience (specification, "Behavioral audience"). */
export const audienceTypes = ['RETAIL', 'BRAND', 'PERSONA', 'DEMOGRAPHIC', 'CUSTOM'] as const
export type AudienceType = (typeof audienceTypes)[number]

/** Allowed attribute per audienceType (specification, "Behavioral audience"). */
export const attributesByType: Readonly<Record<AudienceType, readonly string[]>> = {
  RETAIL: ['HISTORICAL', 'PREDICTIVE'],
  BRAND: ['HISTORICAL', 'PREDICTIVE', 'LAPSED_BUYERS'],
  PERSONA: ['LIFESTYLE', 'LIFESTAGE', 'AUTO', 'SHOPPING_HABITS', 'FOOD_BEVERAGES'],
  DEMOGRAPHIC: ['AGE', 'GENDER', 'HOUSEHOLD_INCOME'],
  CUSTOM: ['RULE_BASED', 'PROPENSITY', 'BRAND_AFFINITY', 'LOOKALIKE', 'ADVANCED', 'EXTERNAL'],
}

/** What the audiences of the other types are about, by attribute; those of RETAIL and BRAND are made of categories and brands. */
export const audienceNames: Readonly<Record<string, readonly string[]>> = {
  LIFESTYLE: ['Fitness Enthusiasts', 'Home Chefs', 'Gardeners', 'Gamers', 'Frequent Travelers', 'Pet Lovers'],
  LIFESTAGE: ['New Parents', 'Newlyweds', 'New Movers', 'Empty Nesters', 'College Students', 'Retirees'],
  AUTO: ['Truck Owners', 'Electric Vehicle Owners', 'Motorcycle Riders', 'First Car Buyers'],
  SHOPPING_HABITS: ['Deal Seekers', 'Brand Loyalists', 'Bulk Buyers', 'Early Adopters', 'Gift Givers'],
  FOOD_BEVERAGES: ['Organic Shoppers', 'Coffee Lovers', 'Vegan Households', 'Snackers', 'Meal Preppers'],
  AGE: ['Age 18-24', 'Age 25-34', 'Age 35-44', 'Age 45-54', 'Age 55-64', 'Age 65+'],
  GENDER: ['Female', 'Male'],
  HOUSEHOLD_INCOME: ['Income under 50k', 'Income 50k-100k', 'Income 100k-150k', 'Income over 150k'],
  RULE_BASED: ['Bought twice in 90 days', 'Abandoned carts', 'Viewed but not bought'],
  PROPENSITY: ['Likely to buy in 30 days', 'Likely to switch'],
  BRAND_AFFINITY: ['Affinity to own brand', 'Affinity to competitors'],
  LOOKALIKE: ['Lookalike of top buyers', 'Lookalike of subscribers'],
  ADVANCED: ['High lifetime value', 'Cross-category shoppers'],
  EXTERNAL: ['Uploaded customer list', 'Partner segment'],
}
