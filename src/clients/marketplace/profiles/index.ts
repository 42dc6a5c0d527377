import type { Profile } from './profile.ts'
import { specification } from './specification.ts'
import { walmartUs } from './walmart-us.ts'

/** Every profile by its name, as `MARKETPLACE_PROFILE` gives it. */
export const profiles: ReadonlyMap<string, Profile> = new Map(
  [specification, walmartUs].map((profile) => [profile.name, profile]),
)

export { specification, walmartUs }
