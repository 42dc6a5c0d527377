import type { Profile } from './profile.ts'
import { specification } from './specification.ts'
import { walmartUs } from './walmart-us.ts'

const all = [specification, walmartUs] as const satisfies readonly Profile[]

/** Every profile by its name in `MARKETPLACE_PROFILE`. */
export const profiles: ReadonlyMap<string, Profile> = new Map(all.map((profile) => [profile.name, profile]))

/** The names of the profiles; the first is that of the specification. */
export const profileNames: readonly [string, ...string[]] = [specification.name, ...all.slice(1).map(({ name }) => name)]

export { specification, walmartUs }
